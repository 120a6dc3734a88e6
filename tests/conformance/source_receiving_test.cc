// What receive() hands over, and when it returns.
#include "tests/conformance/source_suite.h"

namespace onceward {
namespace {

using std::chrono::steady_clock;

class Receiving : public OnEverySource {};
ONCEWARD_ON_EVERY_SOURCE(Receiving);

class OrderedReceiving : public OnEverySource {};
ONCEWARD_ON_SOURCES_THAT(OrderedReceiving, ordered);

TEST_P(OrderedReceiving, MessagesComeInTheOrderOfSending) {
  send(numbered(30));
  send({"30", "31"});
  EXPECT_EQ(ids_of(receive_all(*source_, 32)), numbered(32));
}

TEST_P(OrderedReceiving, WhatComesBackComesBeforeTheRest) {
  send(numbered(6));
  const Deliveries first = receive_all(*source_, 4);
  settle(*source_, first[3].tag, Settle::redeliver);
  settle(*source_, first[1].tag, Settle::redeliver);
  Ids rest = ids_of(receive_all(*source_, 4));
  if (GetParam().capabilities.holds_ahead) rest = sorted(rest);  // what it held comes first
  EXPECT_EQ(rest, (Ids{"1", "3", "4", "5"}));
}

TEST_P(Receiving, NeverMoreThanWereAskedFor) {
  send(numbered(5));
  for (std::size_t left = 5, got = 0; left > 0; left -= got) {
    got = receive(*source_, 2).size();
    ASSERT_THAT(got, testing::AllOf(testing::Ge(1u), testing::Le(2u), testing::Le(left)));
  }
}

TEST_P(Receiving, NothingIsAskedForAndNothingComes) {
  const auto begin = steady_clock::now();
  EXPECT_TRUE(receive(*source_, 0, generous).empty()) << "and nothing is there";
  send({"a"});
  EXPECT_TRUE(receive(*source_, 0, generous).empty());
  EXPECT_LT(steady_clock::now() - begin, generous / 2);
  EXPECT_EQ(ids_of(receive(*source_)), Ids{"a"});
}

TEST_P(Receiving, MoreThanCanBeIsAskedForAndAllComes) {
  send(numbered(3));
  Deliveries deliveries;
  while (deliveries.size() < 3) source_->receive(deliveries, std::numeric_limits<std::size_t>::max(), generous);
  EXPECT_EQ(deliveries.size(), 3u);
}

TEST_P(Receiving, DeliveriesAreAppended) {
  send({"a", "b"});
  Deliveries deliveries;
  source_->receive(deliveries, 1, generous);
  source_->receive(deliveries, 1, generous);
  EXPECT_EQ(sorted(ids_of(deliveries)), (Ids{"a", "b"}));
}

TEST_P(Receiving, WhatIsThereIsNotWaitedFor) {
  send({"a"});
  const auto begin = steady_clock::now();
  EXPECT_EQ(receive(*source_, 1000, generous).size(), 1u);
  EXPECT_LT(steady_clock::now() - begin, generous / 2);
}

TEST_P(Receiving, EmptyQueueIsWaitedForAsLongAsWasSaid) {
  const auto begin = steady_clock::now();
  EXPECT_TRUE(receive(*source_, 10, 80ms).empty());
  EXPECT_GE(steady_clock::now() - begin, 80ms);
  EXPECT_LT(steady_clock::now() - begin, generous / 2);
}

TEST_P(Receiving, WithoutAWaitAnEmptyQueueIsAnsweredAtOnce) {
  EXPECT_TRUE(receive(*source_, 10, 0ms).empty());
  EXPECT_TRUE(receive(*source_, 10, -1s).empty());
}

TEST_P(Receiving, FirstDeliveryIsTheFirst) {
  send({"a"});
  const Deliveries deliveries = receive(*source_);
  expect_count(deliveries.at(0), 1);
  EXPECT_EQ(source_->counters().received, 1u);
  EXPECT_EQ(source_->counters().redelivered, deliveries[0].redelivered ? 1u : 0u);
}

TEST_P(Receiving, TagsRiseAndAreNeverUsedAgain) {
  send(numbered(20));
  std::uint64_t last = 0;
  for (int round = 0; round < 10; ++round) {
    const Deliveries deliveries = receive_all(*source_, 2);
    for (const Delivery& delivery : deliveries) {
      EXPECT_GT(delivery.tag, last);
      last = delivery.tag;
    }
    settle(*source_, deliveries, round % 3 == 0 ? Settle::redeliver : Settle::accept);
  }
}

TEST_P(Receiving, EnvelopeIsWhatWasSent) {
  under_->send({R"({"messageId":"m1","producer":"shop","headers":{"tenant":"main"},"payload":{ "a" : 1.0 }})"});
  const Deliveries deliveries = receive(*source_);
  ASSERT_EQ(deliveries.size(), 1u);
  const Envelope& envelope = deliveries[0].envelope;
  EXPECT_FALSE(deliveries[0].refusal.has_value());
  EXPECT_EQ(envelope.message_id(), MessageId("m1"));
  EXPECT_EQ(envelope.producer(), Producer("shop"));
  EXPECT_EQ(envelope.header("tenant"), "main");
  EXPECT_EQ(envelope.payload(), R"({ "a" : 1.0 })");
}

TEST_P(Receiving, CloudEventsAreReadToo) {
  under_->send({R"({"specversion":"1.0","id":"e1","source":"shop","type":"paid","data":[1]})"});
  const Deliveries deliveries = receive(*source_);
  ASSERT_EQ(deliveries.size(), 1u);
  EXPECT_FALSE(deliveries[0].refusal.has_value());
  EXPECT_EQ(deliveries[0].envelope.message_id(), MessageId("e1"));
  EXPECT_EQ(deliveries[0].envelope.payload(), "[1]");
}

TEST_P(Receiving, RefusedBytesAreDeliveredWithTheirRefusal) {
  const std::string torn("\xff\0{", 3);
  under_->send({"no JSON", message("a"), torn, ""});
  const Deliveries deliveries = receive_all(*source_, 4);
  std::vector<std::string> refused;
  for (const Delivery& delivery : deliveries) {
    if (delivery.refusal) refused.emplace_back(delivery.envelope.payload());
    EXPECT_EQ(delivery.refusal.has_value(), delivery.envelope.message_id().empty());
  }
  EXPECT_THAT(refused, testing::UnorderedElementsAre("no JSON", torn, ""));
  settle(*source_, deliveries, Settle::park);
  EXPECT_TRUE(is_empty(*source_)) << "and they can be settled";
}

TEST_P(Receiving, MessageOfSixteenMegabytesComesWhole) {
  const std::size_t limit = EnvelopeLimits{}.message_bytes;
  const std::string frame = message("a", R"("")");
  const std::string payload = '"' + std::string(limit - frame.size(), 'x') + '"';
  const std::string largest = message("a", payload);
  ASSERT_EQ(largest.size(), limit);
  under_->send({largest, largest + ' '});
  const Deliveries deliveries = receive_all(*source_, 2);
  for (const Delivery& delivery : deliveries) {
    if (!delivery.refusal) {
      EXPECT_TRUE(delivery.envelope.payload() == payload);
    } else {
      EXPECT_EQ(delivery.refusal->reason, Reason::too_large);
      EXPECT_TRUE(delivery.envelope.payload() == largest + ' ') << "refused, and kept to the last byte";
    }
  }
  EXPECT_EQ(std::ranges::count_if(deliveries, [](const Delivery& one) { return one.refusal.has_value(); }), 1);
}

TEST_P(Receiving, MessagesAreKeptForASourceThatComesLater) {
  send({"a"});
  make_way();
  auto later = under_->open();
  EXPECT_EQ(ids_of(receive(*later)), Ids{"a"});
}

}  // namespace
}  // namespace onceward
