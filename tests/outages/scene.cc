#include "tests/outages/scene.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "onceward/adapter/postgres.h"

namespace onceward::outages {

using fixtures::await;
using fixtures::environment;
using fixtures::Process;
using nlohmann::json;

namespace {

constexpr const char* envelope_type = "application/vnd.onceward.envelope+json";

}  // namespace

std::string services_directory(const std::string& broker) {
  return environment("ONCEWARD_SERVICES_DIR") + "/" + broker;
}

Scene::Scene() {
  database_.empty();
  PostgresOptions options;
  options.url = database_.url();
  open_postgres(options)->migrate();
  reader_ = fixtures::read_postgres(database_.url());
  reader_->run(
      "CREATE TABLE capture (message_id text NOT NULL, capture_request_id text NOT NULL, invoice text NOT NULL, amount bigint "
      "NOT NULL, currency text NOT NULL);"
      "CREATE TABLE balance (currency text PRIMARY KEY, amount bigint NOT NULL); INSERT INTO balance VALUES ('EUR', 0)");
}

void Scene::at_rabbitmq(const std::string& queue, const std::string& directory) {
  broker_ = "rabbitmq";
  queue_ = queue;
  broker_directory_ = directory;
  write_run();
}

void Scene::at_kafka(const std::string& group, const std::string& directory) {
  broker_ = "kafka";
  queue_ = group;
  broker_directory_ = directory;
  write_run();
}

void Scene::write_run() const {
  const json run{{"naive", false},
                 {"onlyEffects", true},
                 {"store", database_.url()},
                 {"consumer", "captures"},
                 {"captureTable", "capture"},
                 {"balanceTable", "balance"},
                 {"broker", broker_},
                 {"brokerScript", environment("ONCEWARD_SCRIPTS") + "/" + broker_},
                 {"brokerDirectory", broker_directory_},
                 {"queue", queue_}};
  std::ofstream(folder_.path() + "/run.json") << run.dump();
}

void Scene::write(const std::string& source, const std::string& sql, const std::string& lines) {
  std::ofstream(folder_.path() + "/app.toml")
      << "[store]\nurl = \"" << database_.url() << "\"\n[[consumer]]\n"
      << lines << "name = \"captures\"\nowner = \"payments\"\nworkers = 2\n"
      << "batch = 20\ntime_bound = \"20s\"\nretry = { attempts = 5 }\nsource = \"" << source << "\"\nsql = [" << sql
      << "\"INSERT INTO capture SELECT message_id, request, invoice, amount, currency FROM messages\", \"UPDATE balance SET "
         "amount = amount + (SELECT sum(amount) FROM messages)\"]\n[consumer.fields]\nrequest = { pointer = "
         "\"/captureRequestId\" }\ninvoice = { pointer = \"/invoice\" }\namount = { pointer = \"/amount\", type = \"int64\" }\n"
         "currency = { pointer = \"/currency\" }\n";
}

Scene::Daemon Scene::start() const {
  return std::make_unique<Process>(std::vector<std::string>{ONCEWARD_BINARY, "run", folder_.path() + "/app.toml"});
}

Scene::Daemon Scene::start_and_await_work() const {
  Daemon daemon = start();
  await("it works", [&] {
    if (!daemon->running()) throw std::runtime_error("it has ended: " + daemon->output());
    return daemon->output().find("\"working\"") != std::string::npos;
  });
  return daemon;
}

Scene::Message Scene::make(int number, bool again) {
  const std::string id = fmt::format("m-{}", number), request = fmt::format("r-{}", number);
  const std::string invoice = fmt::format("INV-{}", number);
  const int amount = 100 + number;
  return {
      fmt::format(
          R"({{"messageId":"{}","producer":"checkout","eventType":"PaymentCaptureRequested","payload":{{"captureRequestId":"{}","invoice":"{}","amount":{},"currency":"EUR"}}}})",
          id, request, invoice, amount),
      json{{"number", ++lines_},
           {"kind", again ? "resent" : "capture"},
           {"id", id},
           {"capture", request},
           {"invoice", invoice},
           {"amount", amount},
           {"currency", "EUR"}}
          .dump()};
}

void Scene::send(Place& place, int count) {
  std::vector<std::string> envelopes;
  for (int i = 0; i < count; ++i, ++next_) {
    for (int time = 0; time < (next_ % 10 == 3 ? 2 : 1); ++time) {
      const Message message = make(next_, time > 0);
      envelopes.push_back(message.envelope);
      log_ << message.log << '\n';
    }
  }
  log_.flush();
  await("the broker has confirmed", [&] {
    try {
      place.send(envelopes);
      return true;
    } catch (const std::runtime_error&) {
      return false;  // some of them may be there
    }
  });
  confirmed();
}

void Scene::send_some(Place& place) {
  if (next_ - effects() < 1000) send(place, 20);
}

std::string Scene::log_lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    const Message message = make(next_++, false);
    lines += message.envelope + "\n";
    log_ << message.log << '\n';
  }
  return lines;
}

void Scene::confirmed() { log_ << json{{"confirmed", lines_}}.dump() << std::endl; }

void Scene::hold_effects() {
  holder_ = fixtures::read_postgres(database_.url());
  holder_->run("BEGIN; LOCK TABLE capture IN EXCLUSIVE MODE");
}

void Scene::await_held(int workers) {
  await("workers have messages in hand", [&] {
    return reader_->number(
               "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
               "wait_event_type = 'Lock'") >= workers;
  });
}

void Scene::release_effects() { holder_.reset(); }

std::int64_t Scene::effects() { return reader_->number("SELECT count(DISTINCT message_id) FROM capture"); }

void Scene::await_effects(std::chrono::seconds deadline) {
  await("every message has had its effect", [&] { return effects() >= next_; }, deadline);
}

void Scene::expect_each_once() {
  await("nothing is left at the broker",
        [&] { return fixtures::run_well({ONCEWARD_BINARY "-checker", folder_.path(), "--left"}) == "0\n"; });
  const fixtures::Ran ran = fixtures::run({ONCEWARD_BINARY "-checker", folder_.path()});
  EXPECT_EQ(ran.exit_code, 0) << ran.output;
}

ToRabbitmq::ToRabbitmq(std::vector<RabbitmqConnection> servers, std::string queue)
    : servers_(std::move(servers)), queue_(std::move(queue)) {}

void ToRabbitmq::send(const std::vector<std::string>& envelopes) {
  try {
    if (!client_) client_ = std::make_unique<fixtures::RabbitmqClient>(servers_[next_++ % servers_.size()]);
    std::vector<fixtures::RawMessage> messages;
    for (const std::string& envelope : envelopes) messages.push_back({.body = envelope, .content_type = envelope_type});
    client_->send(queue_, messages);
  } catch (const std::runtime_error&) {
    client_.reset();
    throw;
  }
}

void ToKafka::send(const std::vector<std::string>& envelopes) {
  std::vector<fixtures::KafkaRecord> records;
  for (const std::string& envelope : envelopes) {
    records.push_back({.key = envelope.substr(0, envelope.find(',')),  // its id
                       .value = envelope,
                       .headers = {{"content-type", envelope_type}}});
  }
  topic_.send(records);
}

}  // namespace onceward::outages
