// What was handed out and not settled comes back: after close, after the ack timeout, after the death of its holder.
#include <signal.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "tests/conformance/source_suite.h"
#include "tests/fixtures/process.h"

namespace onceward {
namespace {

constexpr std::chrono::milliseconds short_timeout = 150ms;

class Returning : public OnEverySource {};
ONCEWARD_ON_EVERY_SOURCE(Returning);

class ReturningToAnybody : public OnEverySource {};
ONCEWARD_ON_SOURCES_THAT(ReturningToAnybody, shared);

TEST_P(Returning, ClosedSourceGivesBackWhatItHeld) {
  send({"a", "b", "c"});
  const Deliveries held = receive_all(*source_, 3);
  settle(*source_, held[0].tag);
  source_.reset();
  auto other = under_->open();
  const Deliveries back = receive_all(*other, 2);
  EXPECT_EQ(sorted(ids_of(back)), sorted(ids_of({held[1], held[2]})));
  for (const Delivery& delivery : back) expect_count(delivery, 2);
  EXPECT_TRUE(is_empty(*other)) << "and what was accepted stays away";
}

TEST_P(ReturningToAnybody, DeliveryIsHeldByOne) {
  make({.prefetch = 1});
  send({"a", "b"});
  auto other = under_->open();
  const Deliveries mine = receive(*source_, 1);
  const Deliveries theirs = receive(*other, 10);
  EXPECT_EQ(sorted(ids_of({mine.at(0), theirs.at(0)})), (Ids{"a", "b"}));
  EXPECT_TRUE(is_empty(*source_));
  EXPECT_TRUE(is_empty(*other));
}

// Whatever is done to them, each message is delivered until it is accepted, and not once more where each is accepted alone.
TEST_P(Returning, EveryMessageComesUntilItIsAccepted) {
  constexpr int count = 60;
  send(numbered(count));
  std::mt19937 random(7);  // NOLINT: the same in every run
  std::set<std::string> accepted;
  std::map<std::string, std::uint32_t> delivered;
  while (accepted.size() < count) {
    const Deliveries deliveries = receive(*source_, 1 + random() % 9, 30ms);
    std::vector<Settlement> settlements;
    for (const Delivery& delivery : deliveries) {
      const std::string id(delivery.envelope.message_id().text());
      EXPECT_FALSE(GetParam().capabilities.each_alone && accepted.contains(id)) << id;
      ++delivered[id];
      if (GetParam().capabilities.holds_ahead) {
        // The broker also counts those that were held and never handed out.
        EXPECT_TRUE(delivery.redelivered || delivered[id] == 1) << id;
        EXPECT_TRUE(delivery.deliveries >= delivered[id] || !GetParam().capabilities.counts_deliveries) << id;
      } else if (GetParam().capabilities.knows_redelivered) {
        expect_count(delivery, delivered[id]);
      }
      const auto chance = random() % 3;
      if (chance == 0) accepted.insert(id);
      if (chance != 1) settlements.push_back({delivery.tag, chance == 0 ? Settle::accept : Settle::redeliver});
    }
    source_->settle(settlements);
    // What was kept back comes when its source is closed, at the latest when nothing else comes.
    if (deliveries.empty() || random() % 8 == 0) {
      source_.reset();
      source_ = under_->open();
    }
  }
  EXPECT_TRUE(!GetParam().capabilities.each_alone || is_empty(*source_));
}

class AckTimeout : public OnEverySource {
 protected:
  void SetUp() override { make({.ack_timeout = short_timeout}); }
};
ONCEWARD_ON_SOURCES_THAT(AckTimeout, chosen_ack_timeout);

TEST_P(AckTimeout, IsWhatWasAskedFor) { EXPECT_EQ(source_->ack_timeout(), short_timeout); }

TEST_P(AckTimeout, UnsettledDeliveryComesToSomebodyElseAndSaysSo) {
  send({"a"});
  const auto begin = std::chrono::steady_clock::now();
  receive(*source_);
  auto other = under_->open();
  const Deliveries back = receive(*other);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, short_timeout - 5ms);  // the clocks may differ a little
  ASSERT_EQ(ids_of(back), Ids{"a"});
  expect_count(back[0], 2);
}

TEST_P(AckTimeout, UnsettledDeliveryComesToItsOwnSourceToo) {
  send({"a"});
  const Deliveries first = receive(*source_);
  const Deliveries second = receive(*source_);
  ASSERT_EQ(ids_of(second), Ids{"a"});
  EXPECT_GT(second[0].tag, first[0].tag);
  expect_count(second[0], 2);
}

TEST_P(AckTimeout, AnswerThatComesTooLateChangesNothing) {
  for (const Settle how : {Settle::accept, Settle::park, Settle::redeliver}) {
    make({.ack_timeout = 600ms});
    send({"a"});
    auto other = under_->open();
    const Deliveries late = receive(*source_);
    const Deliveries again = receive(*other);
    ASSERT_EQ(ids_of(again), Ids{"a"});
    settle(*source_, late, how);
    EXPECT_EQ(source_->counters().settle_failed, 1u);
    EXPECT_EQ(source_->counters().settled, 0u);
    settle(*other, again, Settle::redeliver);
    EXPECT_EQ(other->counters().settled, 1u) << "the one who holds it now decides";
    settle(*other, receive(*other), Settle::accept);
    EXPECT_EQ(other->counters().settled, 2u);
    EXPECT_TRUE(is_empty(*source_));
  }
}

TEST_P(AckTimeout, ClosingGivesBackNothingThatSomebodyElseHolds) {
  make({.ack_timeout = 1500ms});
  send({"a"});
  auto other = under_->open();
  receive(*source_);
  const Deliveries again = receive(*other);
  ASSERT_EQ(ids_of(again), Ids{"a"});
  source_.reset();
  EXPECT_TRUE(is_empty(*other));
  settle(*other, again);
  EXPECT_EQ(other->counters().settled, 1u);
}

TEST_P(AckTimeout, SettledDeliveriesStayAwayWhenItPasses) {
  send({"a", "b"});
  const Deliveries deliveries = receive_all(*source_, 2);
  settle(*source_, deliveries[0].tag);
  const Deliveries back = receive(*source_);
  EXPECT_EQ(ids_of(back), ids_of({deliveries[1]})) << "only the other one";
}

class Processes : public OnEverySource {
 protected:
  std::unique_ptr<Process> start(const char* what, int count) {
    return std::make_unique<Process>(
        std::vector<std::string>{ONCEWARD_TEST_PROGRAMS "/receiver", under_->address(), what, std::to_string(count)});
  }
};
ONCEWARD_ON_SOURCES_THAT(Processes, several_processes);

class SharingProcesses : public Processes {};
INSTANTIATE_TEST_SUITE_P(Source, SharingProcesses, testing::ValuesIn([] {
                           std::vector<SourceBackend> both = source_backends_that(&SourceCapabilities::shared);
                           std::erase_if(both, [](const auto& one) { return !one.capabilities.several_processes; });
                           return both;
                         }()),
                         source_name);

TEST_P(Processes, WhatAKilledOneHeldComesBack) {
  make({.ack_timeout = 1000ms, .prefetch = 15});
  send(numbered(20));
  make_way();
  auto holder = start("hold", 15);
  await("the other process holds them", [&] { return holder->output().find("holding 15") != std::string::npos; });
  holder->signal(SIGKILL);
  EXPECT_EQ(holder->wait(), 128 + SIGKILL);
  come_back();
  Deliveries all;
  while (all.size() < 20) {
    const Deliveries some = receive(*source_);
    settle(*source_, some);
    std::ranges::copy(some, std::back_inserter(all));
  }
  EXPECT_EQ(sorted(ids_of(all)), sorted(numbered(20)));
  const auto redelivered = std::ranges::count(all, true, &Delivery::redelivered);
  if (GetParam().capabilities.knows_redelivered) EXPECT_EQ(redelivered, 15);
  EXPECT_EQ(source_->counters().settled, 20u);
}

TEST_P(Processes, WhatOneHeldThatLeavesOrderlyComesBackAtOnce) {
  send(numbered(20));
  make_way();
  auto holder = start("leave", 15);
  ASSERT_EQ(holder->wait(), 0) << holder->output();
  come_back();
  EXPECT_EQ(receive_all(*source_, 20).size(), 20u);
}

TEST_P(SharingProcesses, NeverShareADelivery) {
  constexpr int count = 600;
  send(numbered(count));
  std::vector<std::unique_ptr<Process>> processes;
  for (int i = 0; i < 4; ++i) processes.push_back(start("drain", 7));
  Ids all;
  for (auto& process : processes) {
    ASSERT_EQ(process->wait(), 0) << process->output();
    std::istringstream lines(process->output());
    for (std::string id; std::getline(lines, id);) all.push_back(id);
  }
  EXPECT_EQ(sorted(all), sorted(numbered(count)));
}

}  // namespace
}  // namespace onceward
