#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include "onceward/adapter/embedded.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using fixtures::generous;

class EmbeddedSources : public testing::Test {
 protected:
  void send(std::initializer_list<const char*> ids, const EmbeddedOptions& options) {
    std::vector<std::string> messages;
    for (const char* const id : ids) messages.push_back(R"({"messageId":")" + std::string(id) + R"("})");
    EmbeddedSender(options).send(std::vector<std::string_view>(messages.begin(), messages.end()));
  }
  static std::vector<Delivery> receive(Source& source, std::chrono::milliseconds wait = generous) {
    std::vector<Delivery> deliveries;
    source.receive(deliveries, 100, wait);
    return deliveries;
  }
  static void settle(Source& source, std::uint64_t tag, Settle how = Settle::accept) {
    const Settlement settlement{tag, how};
    source.settle({&settlement, 1});
  }
  std::int64_t number(const std::string& sql) { return fixtures::read_sqlite(path_)->number(sql); }

  fixtures::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/test.queue";
  EmbeddedOptions options_{.path = path_};
};

TEST_F(EmbeddedSources, QueuesOfOneFileDoNotMix) {
  const EmbeddedOptions refunds{.path = path_, .queue = "refunds"};
  send({"a"}, options_);
  send({"b"}, refunds);
  send({"c"}, options_);
  auto mine = open_embedded(options_);
  auto theirs = open_embedded(refunds);
  const auto first = receive(*mine);
  const auto second = receive(*theirs);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].envelope.message_id(), MessageId("b"));
  settle(*mine, first[0].tag);
  settle(*mine, first[1].tag);
  EXPECT_EQ(number("SELECT count(*) FROM message"), 1);
  settle(*theirs, second[0].tag, Settle::redeliver);
  send({"d"}, options_);
  const auto third = receive(*mine);
  ASSERT_EQ(third.size(), 1u) << "nor does what comes back";
  EXPECT_EQ(third[0].envelope.message_id(), MessageId("d"));
  settle(*mine, third[0].tag);
  settle(*theirs, receive(*theirs).at(0).tag);
  EXPECT_EQ(number("SELECT count(*) FROM message"), 0);
}

TEST_F(EmbeddedSources, WhatIsSettledLeavesNoRow) {
  send({"a", "b", "c"}, options_);
  auto source = open_embedded(options_);
  const auto deliveries = receive(*source);
  settle(*source, deliveries.at(1).tag, Settle::park);
  settle(*source, deliveries.at(0).tag);
  settle(*source, deliveries.at(2).tag);
  EXPECT_EQ(number("SELECT count(*) FROM message"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM delivery"), 0);
}

TEST_F(EmbeddedSources, WaitingCostsNoProcessorTime) {
  auto source = open_embedded(options_);
  const auto spent = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto before = spent();
  EXPECT_TRUE(receive(*source, 500ms).empty());
  EXPECT_LT(spent() - before, 50ms);
}

TEST_F(EmbeddedSources, LateAnswerCountsWhileNobodyElseWasHandedTheMessage) {
  options_.visibility = 100ms;
  send({"a"}, options_);
  auto source = open_embedded(options_);
  const auto deliveries = receive(*source);
  auto sender = EmbeddedSender(options_);
  fixtures::await("it is due", [&] { return sender.depth() == QueueDepth{1, 0}; });
  settle(*source, deliveries.at(0).tag);
  EXPECT_EQ(source->counters().settled, 1u);
  EXPECT_EQ(sender.depth(), (QueueDepth{0, 0}));
}

TEST_F(EmbeddedSources, LateAnswerCountsAlsoWhenOthersWereReceivedMeanwhile) {
  options_.visibility = 500ms;
  send({"a", "b"}, options_);
  auto source = open_embedded(options_);
  const auto deliveries = receive(*source);
  ASSERT_EQ(deliveries.size(), 2u);
  EmbeddedSender sender(options_);
  fixtures::await("both are due", [&] { return sender.depth() == QueueDepth{2, 0}; });
  std::vector<Delivery> again;
  source->receive(again, 1, generous);
  ASSERT_EQ(again.at(0).envelope.message_id(), MessageId("a"));
  settle(*source, deliveries[1].tag);
  EXPECT_EQ(source->counters().settled, 1u);
  settle(*source, deliveries[0].tag);
  EXPECT_EQ(source->counters().settle_failed, 1u) << "but not for what was handed out again";
}

TEST_F(EmbeddedSources, WhatIsLongDueIsForgotten) {
  options_.visibility = 100ms;
  send({"a", "b"}, options_);
  auto source = open_embedded(options_);
  const auto deliveries = receive(*source);
  ASSERT_EQ(deliveries.size(), 2u);
  const auto long_due = std::chrono::system_clock::now() + 2 * options_.visibility;
  fixtures::await("they are long due", [&] { return std::chrono::system_clock::now() > long_due; });
  std::vector<Delivery> again;
  source->receive(again, 1, generous);
  settle(*source, deliveries[1].tag);
  EXPECT_EQ(source->counters().settle_failed, 1u);
}

TEST_F(EmbeddedSources, OneReceiveHandsOutABoundedNumberOfBytes) {
  const std::string large(EmbeddedOptions::most_bytes_at_once / 2, 'x');
  const std::vector<std::string_view> messages{large, large, "a", "b"};
  EmbeddedSender sender(options_);
  sender.send(messages);
  auto source = open_embedded(options_);
  EXPECT_EQ(receive(*source).size(), 2u);
  EXPECT_EQ(sender.depth(), (QueueDepth{2, 2}));
  const auto rest = receive(*source);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].envelope.payload(), "a");
  EXPECT_EQ(rest[0].deliveries, 1u);
}

TEST_F(EmbeddedSources, MissingMessageIsToldAsDamage) {
  const std::string large(EmbeddedOptions::most_bytes_at_once / 2, 'x');
  for (const std::string_view text : {std::string_view("{}"), std::string_view(large)}) {
    options_.queue = text == "{}" ? "small" : "large";
    EmbeddedSender(options_).send(std::vector<std::string_view>{text, text, text});
    fixtures::read_sqlite(path_)->run("DELETE FROM message WHERE position & 3 = 2");
    auto source = open_embedded(options_);
    EXPECT_EQ(fixtures::fault_of([&] { receive(*source); }), FaultCode::source_refused);
    EXPECT_EQ(source->counters().received, 0u);
  }
}

TEST_F(EmbeddedSources, RemovedQueueIsTold) {
  auto source = open_embedded(options_);
  EmbeddedSender sender(options_);
  fixtures::read_sqlite(path_)->run("DELETE FROM queue");
  const std::string_view message = "{}";
  EXPECT_EQ(fixtures::fault_of([&] { sender.send({&message, 1}); }), FaultCode::source_refused);
}

TEST_F(EmbeddedSources, LockThatIsHeldIsUnavailableAndCostsNothing) {
  options_.busy_deadline = 50ms;
  send({"a", "b"}, options_);
  auto source = open_embedded(options_);
  std::vector<Delivery> first;
  source->receive(first, 1, generous);
  {
    auto holder = fixtures::read_sqlite(path_);
    holder->run("BEGIN IMMEDIATE");
    EXPECT_EQ(fixtures::fault_of([&] { receive(*source); }), FaultCode::source_unavailable);
    EXPECT_EQ(fixtures::fault_of([&] { settle(*source, first.at(0).tag); }), FaultCode::source_unavailable);
    EXPECT_EQ(source->counters().settle_failed, 1u);
  }
  EXPECT_EQ(receive(*source).size(), 1u);
  EXPECT_EQ(source->counters().reconnects, 0u);
  EXPECT_EQ(source->counters().received, 2u);
}

TEST_F(EmbeddedSources, DescriptionNamesFileAndQueue) {
  EXPECT_EQ(open_embedded(options_)->describe(), "embedded:" + path_ + "?queue=default");
}

}  // namespace
}  // namespace onceward
