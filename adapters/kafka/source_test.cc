// What only Kafka's source has, on a real broker. What it shares with the others is in tests/conformance; what happens when
// the world breaks, in tests/brokers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <librdkafka/rdkafka.h>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/receiving.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using Offsets = std::map<int, std::int64_t>;

std::vector<KafkaRecord> records(int count) {
  std::vector<KafkaRecord> made;
  for (int i = 0; i < count; ++i)
    made.push_back({.value = std::to_string(i), .headers = {{"id", "m" + std::to_string(i)}}});
  return made;
}

TEST(KafkaSource, WhatLiesBehindAGapIsSettledWhenItCloses) {
  KafkaTopic topic;
  topic.send(records(4));
  const auto source = open_kafka(topic.source());
  const auto deliveries = receive_all(*source, 4);
  settle(*source, deliveries[2]);
  settle(*source, deliveries[3]);
  EXPECT_EQ(source->counters().settled, 0u);
  EXPECT_EQ(topic.committed(), Offsets{}) << "nothing may be committed past what is held";
  settle(*source, deliveries[0]);
  EXPECT_EQ(source->counters().settled, 1u);
  EXPECT_EQ(topic.committed(), (Offsets{{0, 1}}));
  settle(*source, deliveries[1]);
  EXPECT_EQ(source->counters().settled, 4u);
  EXPECT_EQ(source->counters().settle_failed, 0u);
  EXPECT_EQ(topic.committed(), (Offsets{{0, 4}}));
}

TEST(KafkaSource, RedeliveredOneComesAloneAndHoldsTheCommit) {
  KafkaTopic topic;
  topic.send(records(3));
  const auto source = open_kafka(topic.source());
  const auto deliveries = receive_all(*source, 3);
  settle(*source, deliveries[1], Settle::redeliver);
  settle(*source, deliveries[0]);
  settle(*source, deliveries[2]);
  EXPECT_EQ(topic.committed(), (Offsets{{0, 1}}));
  const auto again = receive_all(*source, 1);
  EXPECT_THAT(payloads_of(again), ElementsAre("1"));
  EXPECT_TRUE(again[0].redelivered);
  settle(*source, again);
  EXPECT_EQ(topic.committed(), (Offsets{{0, 3}}));
  EXPECT_TRUE(receive(*source, 10, 50ms).empty());
}

TEST(KafkaSource, HistoryIsUnknownUntilTheFirstCommit) {
  KafkaTopic topic;
  topic.send(records(3));
  const auto source = open_kafka(topic.source());
  const auto before = receive_all(*source, 2);
  EXPECT_TRUE(before[0].redelivered);
  EXPECT_TRUE(before[1].redelivered);
  EXPECT_EQ(before[0].deliveries, 0u) << "Kafka does not count";
  settle(*source, before[0]);
  const auto after = receive_all(*source, 1);
  EXPECT_FALSE(after[0].redelivered);
}

TEST(KafkaSource, PartitionsAreCommittedEachForItself) {
  KafkaTopic topic(3);
  auto sent = records(9);
  for (int i = 0; i < 9; ++i) sent[static_cast<std::size_t>(i)].partition = i % 3;
  topic.send(sent);
  const auto source = open_kafka(topic.source());
  const auto deliveries = receive_all(*source, 9);
  for (const Delivery& delivery : deliveries) {
    const int number = std::stoi(std::string(delivery.envelope.payload()));
    if (number % 3 != 1 || number > 1) settle(*source, delivery);  // all but the first of partition 1
  }
  EXPECT_EQ(topic.committed(), (Offsets{{0, 3}, {2, 3}}));
}

TEST(KafkaSource, EagerGroupsWorkToo) {
  KafkaTopic topic;
  topic.send(records(2));
  KafkaSourceOptions options = topic.source();
  options.cooperative = false;
  auto source = open_kafka(options);
  settle(*source, receive(*source, 1));
  source.reset();
  source = open_kafka(options);
  EXPECT_THAT(payloads_of(receive_all(*source, 1)), ElementsAre("1"));
}

TEST(KafkaSource, CooperationWithAnOldLibraryIsWarnedOf) {
  KafkaTopic topic;
  KafkaSourceOptions options = topic.source();
  for (const bool cooperative : {false, true}) {
    options.group = cooperative ? "cooperative" : "eager";
    options.cooperative = cooperative;
    KeptLog log;
    open_kafka(options, log);
    EXPECT_EQ(log.text().find("2.3 or newer") != std::string::npos, cooperative && rd_kafka_version() < 0x020300ff);
  }
}

TEST(KafkaSource, LatestIsTheEndOfTheFirstTime) {
  KafkaTopic topic;
  topic.send(records(5));
  KafkaSourceOptions options = topic.source();
  options.start = KafkaSourceOptions::Start::latest;
  auto source = open_kafka(options);
  EXPECT_EQ(topic.committed(), (Offsets{{0, 5}})) << "else what comes while nobody is here would be lost";
  source.reset();
  topic.send({{.value = "new"}});
  source = open_kafka(options);
  EXPECT_THAT(payloads_of(receive_all(*source, 1)), ElementsAre("new"));
}

// A group that has begun wants all that comes, wherever that is sent to.
TEST(KafkaSource, PartitionThatIsAddedBeginsAtItsBeginningAlsoWithLatest) {
  KafkaTopic topic(2);
  topic.send(records(5));
  KafkaSourceOptions options = topic.source();
  options.start = KafkaSourceOptions::Start::latest;
  open_kafka(options);
  topic.add_partitions(1);
  topic.send({{.value = "early", .partition = 2}});
  const auto source = open_kafka(options);
  EXPECT_THAT(payloads_of(receive_all(*source, 1)), ElementsAre("early"));
}

TEST(KafkaSource, CallIsBoundedByBytes) {
  KafkaTopic topic;
  topic.send(std::vector<KafkaRecord>(6, {.value = std::string(40'000, 'x')}));
  KafkaSourceOptions options = topic.source();
  options.queued_bytes = KafkaSourceOptions::least_queued_bytes;
  const auto source = open_kafka(options);
  std::size_t got = 0;
  while (got < 6) {
    const auto deliveries = receive(*source, 1000);
    EXPECT_LE(deliveries.size(), 2u);
    got += deliveries.size();
  }
}

TEST(KafkaSource, TombstonesAreDelivered) {
  KafkaTopic topic;
  topic.send(
      {{.key = "order-7", .headers = {{"id", "m1"}}}, {.key = "order-8", .value = "", .headers = {{"id", "m2"}}}});
  const auto source = open_kafka(topic.source());
  const auto deliveries = receive_all(*source, 2);
  EXPECT_EQ(deliveries[0].envelope.header(kafka_tombstone_header), "true");
  EXPECT_EQ(deliveries[0].envelope.message_id(), MessageId("m1"));
  EXPECT_EQ(deliveries[0].envelope.aggregate_id(), AggregateId("order-7"));
  EXPECT_FALSE(deliveries[1].envelope.header(kafka_tombstone_header));
  settle(*source, deliveries);
  EXPECT_EQ(topic.committed(), (Offsets{{0, 2}}));
}

}  // namespace
}  // namespace onceward
