#include "src/worker/handover.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace onceward {
namespace {

using namespace std::chrono_literals;

Arrivals deliveries(std::uint64_t first, std::size_t count) {
  Arrivals made;
  made.deliveries.resize(count);
  made.identities.resize(count);
  for (Delivery& delivery : made.deliveries) delivery.tag = first++;
  return made;
}

TEST(Handover, HasRoomForOneBatchBesidesTheOneUnderWay) {
  Handover handover(10);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 10u);
  auto some = deliveries(1, 4);
  handover.deliver(some);
  EXPECT_TRUE(some.empty());
  EXPECT_EQ(handover.wait_for_room(0ms).room, 6u);
  some = deliveries(5, 6);
  handover.deliver(some);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 0u);
  Arrivals taken;
  handover.take(taken, 0ms);
  ASSERT_EQ(taken.size(), 10u);
  for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken.deliveries[i].tag, i + 1);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 10u);
}

TEST(Handover, HasNoRoomWhileEnoughBytesWait) {
  const std::string megabyte(1u << 20, 'x');
  EnvelopeFields fields;
  fields.payload = megabyte;
  Handover handover(1000);
  Arrivals large = deliveries(1, 15);
  for (Delivery& delivery : large.deliveries) delivery.envelope = Envelope(fields, nullptr);
  handover.deliver(large);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 985u);
  large = deliveries(16, 1);
  large.deliveries[0].envelope = Envelope(fields, nullptr);
  handover.deliver(large);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 0u);
  Arrivals taken;
  handover.take(taken, 0ms);
  EXPECT_EQ(taken.size(), 16u);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 1000u);
}

TEST(Handover, HeldOrClosedItHasNoRoomAndStillSettles) {
  Handover handover(10);
  handover.hold(true);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 0u);
  handover.hold(false);
  EXPECT_EQ(handover.wait_for_room(0ms).room, 10u);
  handover.close();
  const Settlement settlement{7, Settle::park};
  handover.settle({&settlement, 1});
  const auto due = handover.wait_for_room(0ms);
  EXPECT_EQ(due.room, 0u);
  ASSERT_EQ(due.settlements.size(), 1u);
  EXPECT_EQ(due.settlements[0].tag, 7u);
  EXPECT_TRUE(handover.wait_for_room(0ms).settlements.empty());
}

TEST(Handover, WakesTheOtherThread) {
  Handover handover(10);
  Arrivals taken;
  std::jthread store([&] { handover.take(taken, 60s); });
  auto one = deliveries(1, 1);
  handover.deliver(one);
  store.join();
  EXPECT_EQ(taken.size(), 1u);

  handover.hold(true);
  std::jthread source([&] { handover.wait_for_room(60s); });
  const Settlement settlement{1, Settle::accept};
  handover.settle({&settlement, 1});
  source.join();

  std::jthread waiting([&] { handover.take(taken, 60s); });
  handover.close();
  waiting.join();
  EXPECT_TRUE(taken.empty());
}

// While a worker drains, the source's thread sleeps between settlements.
TEST(Handover, ClosedLetsTheSourcesThreadWaitUntilItEnds) {
  Handover handover(10);
  handover.close();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(handover.wait_for_room(50ms).settlements.empty());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
  std::jthread source([&] { handover.wait_for_room(60s); });
  handover.end();
  source.join();
}

TEST(Handover, LosesNothingBetweenTwoThreads) {
  constexpr std::uint64_t all = 20'000;
  Handover handover(64);
  std::vector<std::uint64_t> settled;
  std::jthread source([&] {
    std::uint64_t next = 1;
    while (settled.size() < all) {
      const auto due = handover.wait_for_room(1s);
      for (const Settlement& settlement : due.settlements) settled.push_back(settlement.tag);
      auto some = deliveries(next, std::min<std::uint64_t>(due.room, all + 1 - next));
      next += some.size();
      if (!some.empty()) handover.deliver(some);
    }
  });
  Arrivals taken;
  for (std::uint64_t seen = 0; seen < all;) {
    handover.take(taken, 1s);
    EXPECT_LE(taken.size(), 64u);
    std::vector<Settlement> settlements;
    for (const Delivery& delivery : taken.deliveries) {
      EXPECT_EQ(delivery.tag, ++seen);
      settlements.push_back({delivery.tag, Settle::accept});
    }
    handover.settle(settlements);
  }
  source.join();
  ASSERT_EQ(settled.size(), all);
  for (std::uint64_t i = 0; i < all; ++i) ASSERT_EQ(settled[i], i + 1);
}

}  // namespace
}  // namespace onceward
