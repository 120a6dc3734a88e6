// `onceward relay` between PostgreSQL and real brokers that die, block, or refuse a message, and relays that are killed. What is left is
// read from the broker and the database, by clients that are none of ours: everything that was committed is there, as it was
// staged, of each key first in the order of its commits, and nothing was charged for what was not its fault.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <map>
#include <set>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "tests/brokers/kafka_server.h"
#include "tests/brokers/rabbitmq_server.h"
#include "tests/fixtures/chance.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/rabbitmq.h"

namespace onceward::outages {
namespace {

using namespace std::chrono_literals;
using fixtures::await;
using fixtures::KafkaTopic;
using fixtures::RabbitmqClient;
using fixtures::RabbitmqQueue;
using testing::HasSubstr;

constexpr int keys = 5;

class RelayOutages : public daemon::Running {
 protected:
  using Relay = std::unique_ptr<fixtures::Process>;
  using Bodies = std::vector<std::string>;

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
  static std::string queue_url(const RabbitmqConnection& server, const std::string& queue) {
    return fmt::format("rabbitmq://guest:guest@127.0.0.1:{}/%2F?queue={}&heartbeat=1s&confirm_deadline=2s",
                       server.hosts.front().port, queue);
  }
  // To which no queue is bound.
  static std::string unbound_url() {
    return fmt::format("rabbitmq://guest:guest@127.0.0.1:{}/%2F?exchange=amq.direct&routing_key={}",
                       fixtures::rabbitmq_server().hosts.front().port, fixtures::unique_name());
  }
  static std::string topic_url(const KafkaTopic& topic) {
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
    await("it is set aside", [&] { return waiting("state = 'aside' AND attempts = 2 AND id = '" + id + "'") == 1; });
  }
  std::int64_t waiting(const std::string& where = "true") {
    return reader_->number("SELECT count(*) FROM onceward.outbox_waiting WHERE " + where);
  }
  void await_all_left(std::int64_t but = 0) {
    await("all has left",
          [&] { return reader_->number("SELECT count(*) FROM onceward.outbox_pending") == 0 && waiting() == but; });
  }
  static double receipts(const fixtures::Process& relay, const std::string& kind) {
    const auto samples = daemon::samples_in(daemon::get(port_of(relay), "/metrics").body);
    return samples.at("onceward_outbox_publish_attempts_total{receipt=\"" + kind + "\"}");
  }

  static Bodies taken_from(RabbitmqClient& client, const std::string& queue) {
    Bodies bodies;
    while (const auto message = client.take(queue)) bodies.push_back(message->body);
    return bodies;
  }
  static Bodies read_from(const KafkaTopic& topic) {
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

// A broker of its own, for all tests that break it.
class RabbitmqRelayOutages : public RelayOutages {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<brokers::RabbitmqServer>(); }
  static void TearDownTestSuite() { server_.reset(); }
  RabbitmqRelayOutages() {
    RabbitmqClient(server_->connection()).declare_queue(queue_);
    server_->sync();
    write_routes({{"paid", queue_url(server_->connection(), queue_)}});
  }
  std::size_t expect_all_in_the_queue() {
    RabbitmqClient client(server_->connection());
    return expect_all_of("paid", taken_from(client, queue_));
  }

  static std::unique_ptr<brokers::RabbitmqServer> server_;
  const std::string queue_ = fixtures::unique_name();
};
std::unique_ptr<brokers::RabbitmqServer> RabbitmqRelayOutages::server_;

// Red if a row is noted before its confirm, or charged for an outage.
TEST_F(RabbitmqRelayOutages, BrokerRestartsUnderLoad) {
  const Relay relay = start_relay();
  stage("paid", 200);
  await("some have left", [&] { return receipts(*relay, "confirmed") > 0; });
  for (int i = 0; i < 20; ++i) stage("paid", 20);
  server_->kill();
  for (int i = 0; i < 5; ++i) stage("paid", 20);
  await("it is said", [&] { return daemon::get(port_of(*relay), "/readyz").status == 503; });
  server_->start();
  await_all_left();
  expect_all_in_the_queue();
  EXPECT_EQ(receipts(*relay, "refused"), 0);
  EXPECT_TRUE(relay->running()) << relay->output();
}

// The broker blocks those who publish, for longer than any patience with a row. Red if being put off is charged.
TEST_F(RabbitmqRelayOutages, MemoryAlarmIsWaitedForAndChargesNobody) {
  const Relay relay = start_relay();
  stage("paid", 10);
  await_all_left();
  server_->tool({"set_vm_memory_high_watermark", "absolute", "1"});
  stage("paid", 1);
  await("it is put off, again and again", [&] { return receipts(*relay, "put_off") >= 6 || waiting() > 0; });
  stage("paid", 10);
  EXPECT_EQ(waiting("attempts > 0"), 0);
  EXPECT_EQ(receipts(*relay, "refused"), 0);
  server_->tool({"set_vm_memory_high_watermark", "absolute", "1GB"});
  await_all_left();
  expect_all_in_the_queue();
  EXPECT_EQ(receipts(*relay, "refused"), 0);
}

// No queue gets it, and RabbitMQ confirms it all the same. Red if a return is no refusal, or if it stops other keys.
TEST_F(RelayOutages, WhatNoQueueGetsIsSetAsideAndItsNeighboursLeave) {
  RabbitmqQueue queue;
  write_routes({{"paid", queue_url(fixtures::rabbitmq_server(), queue.name())}, {"lost", unbound_url()}});
  stage_one_in_vain("unroutable", "lost", 2);
  stage("paid", 50);
  const Relay relay = start_relay();
  await_set_aside("unroutable");
  stage("paid", 50);
  await_all_left(1);
  EXPECT_EQ(receipts(*relay, "refused"), 2);
  EXPECT_EQ(expect_all_of("paid", taken_from(queue.client(), queue.name())), 0u);
}

// F39. Red if one that is too large stops the rows beside it, or another key.
TEST_F(RelayOutages, WhatIsTooLargeForKafkaIsSetAsideAndItsNeighboursLeave) {
  const KafkaTopic topic(2);
  write_routes({{"paid", topic_url(topic)}});
  stage("paid", 20);
  stage_one_in_vain("large", "paid", 2'000'000);
  stage("paid", 20);
  const Relay relay = start_relay();
  await_set_aside("large");
  EXPECT_THAT(reader_->value("SELECT detail FROM onceward.outbox_waiting"), HasSubstr("large"));
  EXPECT_EQ(expect_all_of("paid", read_from(topic)), 0u);
}

TEST_F(RelayOutages, KafkaRestartsUnderLoad) {
  brokers::KafkaServer server;
  const KafkaTopic topic(2, server.brokers());
  write_routes({{"paid", topic_url(topic)}});
  const Relay relay = start_relay();
  stage("paid", 200);
  await("some have left", [&] { return receipts(*relay, "confirmed") > 0; });
  for (int i = 0; i < 20; ++i) stage("paid", 20);
  server.kill();
  for (int i = 0; i < 5; ++i) stage("paid", 20);
  server.start();
  await_all_left();
  expect_all_of("paid", read_from(topic));
  EXPECT_EQ(waiting(), 0);
  EXPECT_EQ(receipts(*relay, "refused"), 0);
}

// Two relays, one of them killed at any moment, with both brokers behind them. Red if a place is moved before the confirms, if keys
// stay with the dead, or if who takes over begins behind what was not confirmed.
TEST_F(RelayOutages, RelaysKilledAtRandomLoseNothing) {
  RabbitmqQueue queue;
  const KafkaTopic topic(2);
  write_routes({{"paid", queue_url(fixtures::rabbitmq_server(), queue.name())}, {"shipped", topic_url(topic)}});
  fixtures::Chance chance;
  std::array<Relay, 2> relays{start_relay(), start_relay()};
  int kills = 0;
  for (int round = 0; round < 12; ++round) {
    for (const char* const type : {"paid", "shipped"}) stage(type, chance.between(1, 300));
    std::this_thread::sleep_for(std::chrono::milliseconds(chance.between(0, 400)));  // a moment of chance
    Relay& victim = relays.at(static_cast<std::size_t>(chance.between(0, 1)));
    victim->signal(SIGKILL);
    EXPECT_EQ(victim->wait(), 128 + SIGKILL) << victim->output();
    ++kills;
    victim = start_relay();
  }
  await_all_left();
  const std::size_t again =
      expect_all_of("paid", taken_from(queue.client(), queue.name())) + expect_all_of("shipped", read_from(topic));
  std::printf("%d messages, %d relays killed, %zu published again, seed %s\n", staged_["paid"] + staged_["shipped"],
              kills, again, chance.seed().c_str());
}

}  // namespace
}  // namespace onceward::outages
