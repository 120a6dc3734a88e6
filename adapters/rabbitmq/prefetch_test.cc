#include "adapters/rabbitmq/prefetch.h"

#include <gtest/gtest.h>

namespace onceward::rabbitmq {
namespace {

using namespace std::chrono_literals;

constexpr Prefetch::Clock::time_point start{};

Prefetch after_a_timeout(std::uint16_t most, std::size_t settled) {
  Prefetch prefetch(most, 100s);
  prefetch.begin(start);
  prefetch.settled(settled);
  prefetch.timed_out();
  prefetch.begin(start);
  return prefetch;
}

TEST(RabbitmqPrefetch, IsHalfOfWhatWasDoneInTime) {
  EXPECT_EQ(Prefetch(2000, 100s).count(), 2000);
  EXPECT_EQ(after_a_timeout(2000, 60).count(), 30);
  EXPECT_EQ(after_a_timeout(2000, 0).count(), 1) << "one is the least";
}

TEST(RabbitmqPrefetch, IsHalvedThoughMuchWasDoneBefore) { EXPECT_EQ(after_a_timeout(2000, 1'000'000).count(), 1000); }

TEST(RabbitmqPrefetch, GrowsWhenTwiceAsManyWouldBeDoneInHalfOfTheTime) {
  Prefetch prefetch = after_a_timeout(100, 60);
  prefetch.settled(29);
  EXPECT_FALSE(prefetch.grow(start + 1s)) << "not all of them are done";
  prefetch.settled(1);
  EXPECT_TRUE(prefetch.grow(start + 25s));
  EXPECT_EQ(prefetch.count(), 60);
  prefetch.settled(60);
  EXPECT_TRUE(prefetch.grow(start + 50s)) << "each time counts from the one before";
  EXPECT_EQ(prefetch.count(), 100) << "never more than was asked for";
  prefetch.settled(1000);
  EXPECT_FALSE(prefetch.grow(start + 51s));
}

TEST(RabbitmqPrefetch, IsHalvedThoughNothingWasDoneSinceItLastCouldGrow) {
  Prefetch prefetch = after_a_timeout(100, 80);
  prefetch.settled(40);
  EXPECT_FALSE(prefetch.grow(start + 26s));
  prefetch.timed_out();
  EXPECT_EQ(prefetch.count(), 20);
}

TEST(RabbitmqPrefetch, StaysWhileMessagesAreSlow) {
  Prefetch prefetch = after_a_timeout(100, 60);
  prefetch.settled(30);
  EXPECT_FALSE(prefetch.grow(start + 26s));
  EXPECT_EQ(prefetch.count(), 30);
  prefetch.settled(30);
  EXPECT_TRUE(prefetch.grow(start + 27s)) << "what was slow before is forgotten";
}

}  // namespace
}  // namespace onceward::rabbitmq
