// `onceward relay` between PostgreSQL and real brokers. What is left is read from the broker and the database, by clients that are
// none of ours: everything that was committed is there, as it was staged, of each key first in the order of its commits, and
// nothing was charged for what was not its fault.
#pragma once

#include <fmt/format.h>

#include <map>
#include <set>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/rabbitmq.h"

namespace onceward::outages {

class RelayOutages : public daemon::Running {
 protected:
  using Relay = std::unique_ptr<fixtures::Process>;
  using Bodies = std::vector<std::string>;
  static constexpr int keys = 5;

  RelayOutages() {
    database_.empty();
    PostgresOptions options;
    options.url = database_.url();
    open_postgres(options)->migrate();
    reader_ = fixtures::read_postgres(database_.url());
  }

  // Messages of each type go to its URL.
  void write_routes(const std::map<std::string, std::string>& routes) const {
    std::ofstream file(file_);
    file
        << "[store]\nurl = \"" << database_.url() << "\"\n[admin]\nlisten = \"127.0.0.1:0\"\n"
        << "[relay]\nproducer = \"shop\"\nlease = \"1s\"\nretry = { attempts = 2, first_delay = \"50ms\", longest_delay = "
           "\"50ms\" }\n";
    for (const auto& [type, to] : routes) {
      file << "[[route]]\nname = \"" << type << "\"\ntypes = [\"" << type << "\"]\norder = \"key\"\nto = \"" << to
           << "\"\n";
    }
  }
  Relay start_relay() const {
    return std::make_unique<fixtures::Process>(std::vector<std::string>{ONCEWARD_BINARY, "relay", file_});
  }
  static std::string queue_url(const std::vector<RabbitmqConnection>& servers, const std::string& queue) {
    std::string hosts;
    for (const RabbitmqConnection& server : servers) {
      hosts += fmt::format("{}127.0.0.1:{}", hosts.empty() ? "" : ",", server.hosts.front().port);
    }
    return fmt::format("rabbitmq://guest:guest@{}/%2F?queue={}&heartbeat=1s&confirm_deadline=2s", hosts, queue);
  }
  static std::string queue_url(const RabbitmqConnection& server, const std::string& queue) {
    return queue_url(std::vector{server}, queue);
  }
  // To which no queue is bound.
  static std::string unbound_url() {
    return fmt::format("rabbitmq://guest:guest@127.0.0.1:{}/%2F?exchange=amq.direct&routing_key={}",
                       fixtures::rabbitmq_server().hosts.front().port, fixtures::unique_name());
  }
  static std::string topic_url(const fixtures::KafkaTopic& topic) {
    return fmt::format("kafka://{}/{}?confirm_deadline=5s", topic.brokers(), topic.name());
  }

  static std::string body_of(int number) { return fmt::format(R"({{"message": {}}})", number); }
  // Plain SQL, in one transaction.
  void stage(const std::string& type, int count) {
    int& next = staged_[type];
    reader_->run(fmt::format(
        R"(INSERT INTO onceward.outbox (id, type, key, payload) SELECT '{0}-' || i, '{0}', 'k' || i % {1}, )"
        R"(convert_to('{{"message": ' || i || '}}', 'UTF8') FROM generate_series({2}, {3}) AS i ORDER BY i)",
        type, keys, next, next + count - 1));
    next += count;
  }
  // One of a key of its own, which nobody takes.
  void stage_one_in_vain(const std::string& id, const std::string& type, int bytes) {
    reader_->run(
        fmt::format("INSERT INTO onceward.outbox (id, type, key, payload) VALUES ('{}', '{}', 'another key', "
                    "decode(repeat('00', {}), 'hex'))",
                    id, type, bytes));
  }
  // All others have left, and it has used up its attempts.
  void await_set_aside(const std::string& id) {
    await_all_left(1);
    fixtures::await("it is set aside",
                    [&] { return waiting("state = 'aside' AND attempts = 2 AND id = '" + id + "'") == 1; });
  }
  std::int64_t waiting(const std::string& where = "true") {
    return reader_->number("SELECT count(*) FROM onceward.outbox_waiting WHERE " + where);
  }
  void await_all_left(std::int64_t but = 0) {
    fixtures::await("all has left", [&] {
      return reader_->number("SELECT count(*) FROM onceward.outbox_pending") == 0 && waiting() == but;
    });
  }
  static double receipts(const fixtures::Process& relay, const std::string& kind) {
    const auto samples = daemon::samples_in(daemon::get(port_of(relay), "/metrics").body);
    return samples.at("onceward_outbox_publish_attempts_total{receipt=\"" + kind + "\"}");
  }

  static Bodies taken_from(fixtures::RabbitmqClient& client, const std::string& queue) {
    Bodies bodies;
    while (const auto message = client.take(queue)) bodies.push_back(message->body);
    return bodies;
  }
  static Bodies read_from(const fixtures::KafkaTopic& topic) {
    Bodies bodies;
    for (const fixtures::KafkaRecord& record : topic.read()) bodies.push_back(record.value.value_or(""));
    return bodies;
  }
  // Returns how many of them came again.
  std::size_t expect_all_of(const std::string& type, const Bodies& found) {
    std::map<int, Bodies> expected, first;
    std::map<std::string, int> key_of;
    for (int i = 0; i < staged_[type]; ++i) {
      expected[i % keys].push_back(body_of(i));
      key_of[body_of(i)] = i % keys;
    }
    std::set<std::string> seen;
    for (const std::string& body : found) {
      EXPECT_TRUE(key_of.contains(body)) << "other bytes: " << body;
      if (seen.insert(body).second) first[key_of[body]].push_back(body);
    }
    EXPECT_EQ(first, expected) << type;
    return found.size() - seen.size();
  }

  fixtures::PostgresDatabase& database_ = fixtures::shared_database();
  std::unique_ptr<fixtures::Reader> reader_;
  std::map<std::string, int> staged_;  // how many
};

}  // namespace onceward::outages
