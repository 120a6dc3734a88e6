#include "adapters/kafka/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <thread>

#include "adapters/kafka/options.h"

namespace onceward::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds one_question{500};
constexpr milliseconds news_of_topics{1'000};  // a topic just made is not known to all brokers at once
constexpr milliseconds destroy_deadline{8'000};
constexpr std::chrono::minutes memory{1};
constexpr int syslog_warning = 4;

void set(rd_kafka_conf_t* configuration, const std::string& name, const std::string& value, const Fault& otherwise) {
  std::array<char, 512> why{};
  if (rd_kafka_conf_set(configuration, name.c_str(), value.c_str(), why.data(), why.size()) != RD_KAFKA_CONF_OK) {
    throw otherwise;
  }
}

}  // namespace

bool Repetition::is_news(Trouble::Kind kind, steady_clock::time_point now) {
  const auto [heard, first] = heard_.try_emplace(kind, now);
  return std::exchange(heard->second, now) + memory <= now || first;
}

Client::Client(rd_kafka_type_t type, const KafkaConnection& connection, const Properties& ours, PortFaults faults,
               ClientCallbacks callbacks, const Bell& bell, Log& log)
    : brokers_(connection.brokers),
      faults_(faults),
      callbacks_(std::move(callbacks)),
      log_(log),
      ear_(new Ear{{this}}) {
  Configuration made(rd_kafka_conf_new());
  for (const auto& [name, value] : connection.properties) {
    set(made.get(), name, value, refused(fmt::format("librdkafka does not take {}", name)));
    if (is_secret(name)) secrets_.push_back(value);
  }
  set(made.get(), "bootstrap.servers", brokers_, refused("librdkafka does not take the hosts"));
  set(made.get(), "log.queue", "true", refused("librdkafka has no queue for its log"));
  if (!connection.properties.contains("reconnect.backoff.max.ms")) {
    set(made.get(), "reconnect.backoff.max.ms", "1000",
        refused("librdkafka does not take its reconnect.backoff.max.ms"));
  }
  for (const auto& [name, value] : ours) {
    set(made.get(), name, value, refused(fmt::format("librdkafka does not take {}={}", name, value)));
  }
  rd_kafka_conf_set_opaque(made.get(), ear_.get());
  rd_kafka_conf_set_error_cb(made.get(), on_error);
  rd_kafka_conf_set_log_cb(made.get(), on_log);
  if (callbacks_.rebalance) {
    rd_kafka_conf_set_rebalance_cb(
        made.get(), [](rd_kafka_t*, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* partitions,
                       void* opaque) { heard_by(opaque).callbacks_.rebalance(error, partitions); });
  }
  if (callbacks_.report) {
    rd_kafka_conf_set_dr_msg_cb(made.get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
      heard_by(opaque).callbacks_.report(*message);
    });
  }
  std::array<char, 512> why{};
  instance_ = rd_kafka_new(type, made.get(), why.data(), why.size());
  if (instance_ == nullptr) throw refused(without_secrets(why.data(), secrets_));
  static_cast<void>(made.release());  // librdkafka's now
  main_.reset(rd_kafka_queue_get_main(instance_));
  rd_kafka_set_log_queue(instance_, main_.get());
  bell.listen(main_.get());
}

Client::~Client() {
  if (instance_ == nullptr) return;
  ear_->client = nullptr;
  Bell::ignore(main_.get());
  main_.reset();
  // librdkafka (2.0.2: after a topic was deleted and made again) may wait for ever for a thread of its own. Then the
  // instance is left behind with its threads: a process that cannot end would be worse.
  auto done = std::make_shared<std::promise<void>>();
  std::thread destroying([instance = instance_, done] {
    rd_kafka_destroy_flags(instance, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    done->set_value();
  });
  if (done->get_future().wait_for(destroy_deadline) == std::future_status::ready) {
    destroying.join();
    return;
  }
  destroying.detach();
  static_cast<void>(ear_.release());
  say(LogLevel::warn, "librdkafka does not end; its threads are left behind");
}

void Client::serve() { rd_kafka_poll(instance_, 0); }

void Client::on_error(rd_kafka_t*, int error, const char* reason, void* opaque) {
  Client& client = heard_by(opaque);
  auto known = static_cast<rd_kafka_resp_err_t>(error);
  if (known == RD_KAFKA_RESP_ERR__FATAL) return client.hear_fatal();
  client.hear(known, reason == nullptr ? "" : reason);
}

void Client::hear_fatal() {
  std::array<char, 512> why{};
  rd_kafka_fatal_error(instance_, why.data(), why.size());
  fatal_ = without_secrets(why.data(), secrets_);
}

void Client::on_log(const rd_kafka_t* instance, int level, const char* facility, const char* text) {
  // While it is destroyed, librdkafka calls from its own threads.
  const Client* const client = static_cast<const Ear*>(rd_kafka_opaque(instance))->client;
  if (client == nullptr) return;
  // Of a connection that fails, the errors tell; there is a line for every try.
  const bool known = std::string_view(facility) == "FAIL" || level > syslog_warning;
  client->say(known ? LogLevel::debug : LogLevel::warn,
              fmt::format("{}: {}", facility, without_secrets(text, client->secrets_)));
}

void Client::hear(rd_kafka_resp_err_t error, std::string_view reason) {
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    down_ = true;
    return;
  }
  Trouble heard = trouble_of(error, reason, secrets_);
  if (heard.kind == Trouble::Kind::no_topic) {  // of a partition that was ours; whoever reaches for the topic says more
    misses_topic_ = true;
    return say(LogLevel::debug, heard.text);
  }
  // Of a connection that is tried again and again, once; a log-in that is refused is not forgotten over it.
  say(repetition_.is_news(heard.kind, steady_clock::now()) ? LogLevel::warn : LogLevel::debug, heard.text);
  if (trouble_ && trouble_->kind != heard.kind && needs_somebody(*trouble_)) return;
  trouble_ = std::move(heard);
}

rd_kafka_resp_err_t Client::look_for(const std::string& topic, milliseconds wait) {
  const Topic asked(topic.empty() ? nullptr : rd_kafka_topic_new(instance_, topic.c_str(), nullptr));
  const struct rd_kafka_metadata* answer = nullptr;
  const auto error =
      rd_kafka_metadata(instance_, 0, asked.get(), &answer, static_cast<int>(std::max(wait, milliseconds(1)).count()));
  const Metadata metadata(answer);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR || topic.empty()) return error;
  return metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

std::vector<std::int32_t> Client::partitions(const std::string& topic, milliseconds deadline) {
  const Topic asked(rd_kafka_topic_new(instance_, topic.c_str(), nullptr));
  const struct rd_kafka_metadata* answer = nullptr;
  const auto error = rd_kafka_metadata(instance_, 0, asked.get(), &answer, static_cast<int>(deadline.count()));
  const Metadata metadata(answer);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw fault(trouble_of(error, {}));
  std::vector<std::int32_t> numbers;
  for (int at = 0; metadata->topic_cnt == 1 && at < metadata->topics[0].partition_cnt; ++at) {
    numbers.push_back(metadata->topics[0].partitions[at].id);
  }
  return numbers;
}

void Client::reach(const std::string& topic, milliseconds deadline, FaultCode missing) {
  const auto begin = steady_clock::now();
  trouble_.reset();
  down_ = false;
  bool unknown = false;
  for (;;) {
    const auto spent = std::chrono::ceil<milliseconds>(steady_clock::now() - begin);
    const auto error = look_for(topic, std::min(one_question, deadline - spent));
    serve();
    if (fatal_) throw unavailable(*fatal_);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
    const bool over = steady_clock::now() - begin >= deadline;
    const Trouble said = trouble_of(error, {});
    unknown = unknown || said.kind == Trouble::Kind::no_topic;
    if (unknown && (over || steady_clock::now() - begin >= news_of_topics || missing != faults_.refused)) {
      const auto what = fmt::format("there is no topic {}; create it, or correct the name", topic);
      throw missing == faults_.refused ? refused(what) : unavailable(what);
    }
    if (said.kind == Trouble::Kind::permission) throw fault(said);
    if (trouble_ && (needs_somebody(*trouble_) || down_ || over)) {
      down_ = true;
      throw fault(*trouble_);
    }
    if (over) {
      down_ = true;
      throw unavailable(fmt::format("no answer within {} ms", deadline.count()));
    }
    if (said.kind != Trouble::Kind::unreachable) std::this_thread::sleep_for(milliseconds(20));
  }
  reached_ = true;
  down_ = false;
  misses_topic_ = false;
  trouble_.reset();
  repetition_ = {};
}

Fault Client::unavailable(std::string_view what) const {
  return {faults_.unavailable, Poisons::connection, fmt::format("kafka {}: {}", brokers_, what)};
}

Fault Client::refused(std::string_view what) const {
  return {faults_.refused, Poisons::connection, fmt::format("kafka {}: {}", brokers_, what)};
}

Fault Client::fault(const Trouble& trouble) const {
  return needs_somebody(trouble) ? refused(trouble.text) : unavailable(trouble.text);
}

Trouble Client::trouble(rd_kafka_resp_err_t error, const char* text) const {
  return trouble_of(error, text == nullptr ? "" : text, secrets_);
}

void Client::say(LogLevel level, std::string_view what) const {
  if (!log_.wants(level)) return;
  const LogField fields[] = {{"brokers", brokers_}, {"what", what}};
  log_.write(level, "kafka", fields);
}

}  // namespace onceward::kafka
