// `onceward relay` between PostgreSQL and real brokers that die, block, or refuse a message, and relays that are killed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/brokers/kafka_server.h"
#include "tests/brokers/rabbitmq_server.h"
#include "tests/fixtures/chance.h"
#include "tests/outages/relay_scene.h"

namespace onceward::outages {
namespace {

using fixtures::await;
using fixtures::KafkaTopic;
using fixtures::RabbitmqClient;
using fixtures::RabbitmqQueue;
using testing::HasSubstr;

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

// Red if its neighbours are charged for it, or if it stays in doubt for ever.
TEST_F(RelayOutages, WhatRabbitmqClosesTheChannelOverIsSetAsideAndItsNeighboursLeave) {
  RabbitmqQueue queue;
  write_routes({{"paid", queue_url(fixtures::rabbitmq_server(), queue.name())}});
  stage("paid", 20);
  reader_->run(
      "INSERT INTO onceward.outbox (id, type, key, payload, headers) VALUES ('poison', 'paid', 'another key', '', "
      "'{\"CC\":\"a list is wanted\"}')");
  stage("paid", 20);
  const Relay relay = start_relay();
  await_set_aside("poison");
  EXPECT_THAT(reader_->value("SELECT detail FROM onceward.outbox_waiting"), HasSubstr("PRECONDITION_FAILED"));
  EXPECT_EQ(receipts(*relay, "refused"), 2);
  expect_all_of("paid", taken_from(queue.client(), queue.name()));
}

// Red if its neighbours are charged for it.
TEST_F(RelayOutages, WhatATopicIsTooSmallForIsSetAsideAndItsNeighboursLeave) {
  const KafkaTopic topic(1, fixtures::kafka_brokers(), 1, {{"max.message.bytes", "20000"}});
  write_routes({{"paid", topic_url(topic) + "&linger.ms=50"}});
  stage("paid", 20);
  stage_one_in_vain("large", "paid", 30'000);
  stage("paid", 20);
  const Relay relay = start_relay();
  await_set_aside("large");
  EXPECT_EQ(receipts(*relay, "refused"), 2);
  EXPECT_EQ(expect_all_of("paid", read_from(topic)), 0u);
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
