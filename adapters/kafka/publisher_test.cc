#include "adapters/kafka/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/kafka.h"
#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/publishing.h"
#include "tests/fixtures/waiting.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;
using Kind = Receipt::Kind;

Envelope envelope(const std::string& id, const std::string& payload = "{}") {
  EnvelopeFields fields;
  fields.message_id = MessageId(id);
  fields.producer = Producer("/shop");
  fields.event_type = EventType("paid");
  fields.trace_parent = "00-1";
  fields.payload = payload;
  return Envelope::copy_of(fields);
}

std::vector<Kind> kinds_of(const std::vector<Receipt>& receipts) {
  std::vector<Kind> kinds;
  for (const Receipt& receipt : receipts) kinds.push_back(receipt.kind);
  return kinds;
}

Receipt publish_one(Publisher& publisher, const std::string& topic, const Envelope& what) {
  Publication publication{.destination = topic, .key = "k", .envelope = what};
  return publish_all(publisher, {&publication, 1}, 30s).at(0);
}

TEST(KafkaPublisher, WhatIsConfirmedIsThere) {
  KafkaTopic topic;
  const auto publisher = open_kafka_publisher(topic.publisher());
  std::vector<Publication> publications;
  publications.push_back({.destination = topic.name(), .key = "order-7", .envelope = envelope("a", "1")});
  publications.push_back({.destination = topic.name(), .envelope = envelope("b", "")});
  EXPECT_EQ(kinds_of(publish_all(*publisher, publications, 30s)), (std::vector{Kind::confirmed, Kind::confirmed}));
  const auto records = topic.read();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].key, "order-7");
  EXPECT_EQ(records[0].value, "1");
  EXPECT_THAT(records[0].headers, AllOf(Contains(Pair("ce_id", "a")), Contains(Pair("ce_source", "/shop")),
                                        Contains(Pair("ce_type", "paid")), Contains(Pair("traceparent", "00-1"))));
  EXPECT_EQ(records[1].key, std::nullopt);
  EXPECT_EQ(records[1].value, "");
  EXPECT_EQ(publisher->counters().published, 2u);
  EXPECT_EQ(publisher->counters().confirmed, 2u);
  EXPECT_EQ(publisher->outstanding(), 0u);
}

TEST(KafkaPublisher, OrderOfAKeyIsKept) {
  KafkaTopic topic(4);
  const auto publisher = open_kafka_publisher(topic.publisher());
  std::vector<Publication> publications;
  for (int i = 0; i < 2000; ++i) {
    publications.push_back({.destination = topic.name(),
                            .key = i % 2 == 0 ? "even" : "odd",
                            .envelope = envelope(std::to_string(i), std::to_string(i))});
  }
  for (const Receipt& receipt : publish_all(*publisher, publications, 60s)) EXPECT_EQ(receipt.kind, Kind::confirmed);
  std::map<std::string, int> last;
  for (const KafkaRecord& record : topic.read()) {
    const int number = std::stoi(*record.value);
    if (last.contains(*record.key)) EXPECT_EQ(number, last[*record.key] + 2);
    last[*record.key] = number;
  }
  EXPECT_EQ(last, (std::map<std::string, int>{{"even", 1998}, {"odd", 1999}}));
}

// murmur2, as the Java client has it, and not librdkafka's own.
TEST(KafkaPublisher, KeysGoWhereOtherClientsSendThem) {
  KafkaTopic topic(6);
  const auto publisher = open_kafka_publisher(topic.publisher());
  EXPECT_EQ(publish_one(*publisher, topic.name(), envelope("a")).kind, Kind::confirmed);
  KafkaTopic by_library(6);
  auto options = by_library.publisher();
  options.connection.properties["partitioner"] = "murmur2";
  EXPECT_EQ(publish_one(*open_kafka_publisher(options), by_library.name(), envelope("a")).kind, Kind::confirmed);
  EXPECT_EQ(topic.read().at(0).partition, by_library.read().at(0).partition);
}

TEST(KafkaPublisher, UnknownTopicIsRefused) {
  KafkaTopic topic;
  const auto publisher = open_kafka_publisher(topic.publisher());
  const Receipt receipt = publish_one(*publisher, topic.name() + ".missing", envelope("a"));
  EXPECT_EQ(receipt.kind, Kind::refused);
  EXPECT_THAT(receipt.why, HasSubstr("nknown topic"));
  EXPECT_EQ(publish_one(*publisher, "no topic", envelope("a")).kind, Kind::refused);
  EXPECT_EQ(publish_one(*publisher, "", envelope("a")).kind, Kind::refused);
  EXPECT_EQ(publish_one(*publisher, topic.name(), envelope("a")).kind, Kind::confirmed) << "and it goes on";
}

TEST(KafkaPublisher, TooLargeIsRefused) {
  KafkaTopic topic;
  const auto publisher = open_kafka_publisher(topic.publisher());
  const std::string large(2'000'000, 'x');
  const Receipt receipt = publish_one(*publisher, topic.name(), envelope("a", large));
  EXPECT_EQ(receipt.kind, Kind::refused);
  EXPECT_THAT(receipt.why, HasSubstr("too large"));
  auto options = topic.publisher();
  options.connection.properties["message.max.bytes"] = "3000000";
  EXPECT_EQ(publish_one(*open_kafka_publisher(options), topic.name(), envelope("a", large)).kind, Kind::confirmed);
}

// One that gathers so many into one batch, which leaves when it has them. What goes alone waits for others as long as a busy
// machine may need to publish them, so there are few.
constexpr std::uint64_t gathered = 3;
std::unique_ptr<Publisher> gathering_publisher(const KafkaTopic& topic) {
  auto options = topic.publisher();
  options.connection.properties["linger.ms"] = "1000";
  options.connection.properties["batch.num.messages"] = std::to_string(gathered);
  return open_kafka_publisher(options);
}

std::vector<Publication> numbered(const KafkaTopic& topic, const std::string& payload = "{}") {
  std::vector<Publication> publications;
  for (std::uint64_t tag = 0; tag < gathered; ++tag) {
    publications.push_back(
        {.tag = tag, .destination = topic.name(), .key = "k", .envelope = envelope(std::to_string(tag), payload)});
  }
  return publications;
}

// A broker applies a topic's max.message.bytes to the batch.
TEST(KafkaPublisher, BatchThatItsTopicIsTooSmallForIsPublishedAllTheSame) {
  const KafkaTopic topic(1, kafka_brokers(), 1, {{"max.message.bytes", "20000"}});
  const auto publisher = gathering_publisher(topic);
  const std::size_t window = publisher->room();
  for (const auto& [tag, receipt] : publish_until_decided(*publisher, numbered(topic, std::string(10'000, 'x')))) {
    EXPECT_EQ(receipt.kind, Kind::confirmed) << tag << ": " << receipt.why;
  }
  EXPECT_EQ(publisher->counters().put_off, gathered) << "it was one batch";
  EXPECT_EQ(publisher->room(), window) << "and it is as before";
  EXPECT_EQ(topic.read().size(), gathered);
}

TEST(KafkaPublisher, TooLargeForItsTopicIsRefusedAndItsNeighboursAreNot) {
  const KafkaTopic topic(1, kafka_brokers(), 1, {{"max.message.bytes", "20000"}});
  const auto publisher = gathering_publisher(topic);
  std::vector<Publication> publications = numbered(topic);
  publications[1].envelope = envelope("1", std::string(30'000, 'x'));
  const auto decided = publish_until_decided(*publisher, publications);
  for (const auto& [tag, receipt] : decided) {
    EXPECT_EQ(receipt.kind, tag == 1 ? Kind::refused : Kind::confirmed) << tag << ": " << receipt.why;
  }
  EXPECT_THAT(decided.at(1).why, HasSubstr("too large"));
  EXPECT_EQ(publisher->counters().put_off, gathered) << "it was one batch";
  EXPECT_EQ(topic.read().size(), gathered - 1);
}

TEST(KafkaPublisher, RecordThatACompactedTopicDoesNotTakeIsRefusedAndItsNeighboursAreNot) {
  const KafkaTopic topic(1, kafka_brokers(), 1, {{"cleanup.policy", "compact"}});
  const auto publisher = gathering_publisher(topic);
  std::vector<Publication> publications = numbered(topic);
  publications[1].key = {};
  for (const auto& [tag, receipt] : publish_until_decided(*publisher, publications)) {
    EXPECT_EQ(receipt.kind, tag == 1 ? Kind::refused : Kind::confirmed) << tag << ": " << receipt.why;
  }
  EXPECT_EQ(publisher->counters().put_off, gathered) << "it was one batch";
}

TEST(KafkaPublisher, RoomIsTheWindow) {
  KafkaTopic topic;
  auto options = topic.publisher();
  options.window = 3;
  const auto publisher = open_kafka_publisher(options);
  EXPECT_EQ(publisher->room(), 3u);
  std::vector<Publication> publications(2);
  for (Publication& one : publications) one = {.destination = topic.name(), .envelope = envelope("a")};
  publisher->publish(publications);
  EXPECT_EQ(publisher->room(), 1u);
  EXPECT_EQ(publisher->outstanding(), 2u);
  std::vector<Receipt> receipts;
  while (receipts.size() < 2) publisher->collect(receipts, generous);
  EXPECT_EQ(publisher->room(), 3u);
  std::vector<Publication> many(50);
  for (Publication& one : many) one = {.destination = topic.name(), .envelope = envelope("a")};
  for (const Receipt& receipt : publish_all(*publisher, many, 30s)) EXPECT_EQ(receipt.kind, Kind::confirmed);
}

TEST(KafkaPublisher, CollectReturnsAtOnceWithNothingOutstandingAndWhenWoken) {
  KafkaTopic topic;
  const auto publisher = open_kafka_publisher(topic.publisher());
  std::vector<Receipt> receipts;
  publisher->collect(receipts, generous);
  EXPECT_TRUE(receipts.empty());
  const Publication missing{.destination = "missing", .envelope = envelope("a")};
  publisher->publish({&missing, 1});  // is not answered for a while
  publisher->wake();
  const auto begin = std::chrono::steady_clock::now();
  publisher->collect(receipts, generous);
  EXPECT_TRUE(receipts.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

// A new instance would be of no more use: said, and not only tried again and again.
TEST(KafkaPublisher, WhoMayNotWriteIdempotentlyIsTold) {
  KafkaTopic topic;
  kafka::KafkaPublisher publisher(topic.publisher(), silent_log());
  rd_kafka_test_fatal_error(publisher.instance(), RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, "tried out");
  std::vector<Receipt> receipts;
  await("it has ended", [&] {
    publisher.collect(receipts, 100ms);
    return publisher.instance() == nullptr;
  });
  try {
    publisher.publish({});
    ADD_FAILURE() << "taken";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::publisher_refused);
    EXPECT_THAT(fault.what(), HasSubstr("grant the user IdempotentWrite"));
  }
  EXPECT_EQ(publish_one(publisher, topic.name(), envelope("a")).kind, Kind::confirmed) << "it is tried again";
}

TEST(KafkaPublisher, FatalErrorAnswersWhatIsOutstandingAndMakesANewInstance) {
  KafkaTopic topic;
  KeptLog log;
  kafka::KafkaPublisher publisher(topic.publisher(), log);
  EXPECT_EQ(publish_one(publisher, topic.name(), envelope("a")).kind, Kind::confirmed);
  const Publication missing{.tag = 7, .destination = "missing", .envelope = envelope("b")};
  publisher.publish({&missing, 1});  // outstanding
  ASSERT_EQ(
      rd_kafka_test_fatal_error(publisher.instance(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "tried out"),
      RD_KAFKA_RESP_ERR_NO_ERROR);
  std::vector<Receipt> receipts;
  await("a receipt", [&] {
    publisher.collect(receipts, 100ms);
    return !receipts.empty();
  });
  ASSERT_EQ(receipts.size(), 1u);
  EXPECT_EQ(receipts[0].tag, 7u);
  // On a busy machine it may have been sent meanwhile.
  EXPECT_TRUE(receipts[0].kind == Kind::put_off || receipts[0].kind == Kind::in_doubt);
  EXPECT_EQ(publisher.instance(), nullptr);
  EXPECT_EQ(publisher.outstanding(), 0u);
  EXPECT_THAT(log.text(), HasSubstr("made anew"));
  EXPECT_EQ(publish_one(publisher, topic.name(), envelope("c")).kind, Kind::confirmed);
  EXPECT_EQ(publisher.counters().reconnects, 1u);
}

TEST(KafkaPublisher, TombstonesAreSent) {
  KafkaTopic topic;
  const auto publisher = open_kafka_publisher(topic.publisher());
  EnvelopeFields fields;
  fields.message_id = MessageId("a");
  fields.producer = Producer("/shop");
  fields.event_type = EventType("gone");
  const Header headers[] = {{kafka_tombstone_header, "true"}};
  fields.headers = headers;
  EXPECT_EQ(publish_one(*publisher, topic.name(), Envelope::copy_of(fields)).kind, Kind::confirmed);
  EXPECT_EQ(topic.read().at(0).value, std::nullopt);
}

}  // namespace
}  // namespace onceward
