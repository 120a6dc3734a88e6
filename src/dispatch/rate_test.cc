#include "src/dispatch/rate.h"

#include <gtest/gtest.h>

namespace onceward::dispatch {
namespace {

using namespace std::chrono_literals;

TEST(Rates, WithoutALimitEverythingMayBegin) {
  Rate rate(0, {});
  rate.spend(1'000'000, {});
  EXPECT_GT(rate.allowed(Rate::Clock::time_point{}), 1'000'000u);
}

TEST(Rates, HoldOverAnyTimeAndAfterAPause) {
  Rate rate(50, {});
  Rate::Clock::time_point now{};
  std::size_t begun = 0;
  for (int step = 0; step < 1000; ++step, now += 1ms) {
    const std::size_t some = rate.allowed(now);
    rate.spend(some, now);
    begun += some;
  }
  EXPECT_GE(begun, 50u);
  EXPECT_LE(begun, 56u);
  EXPECT_LE(rate.allowed(now + 1h), 5u) << "a pause saves nothing up";
}

TEST(Rates, HoldThoughWhatIsAllowedBeginsLater) {
  Rate rate(50, {});
  Rate::Clock::time_point now{};
  const std::size_t some = rate.allowed(now);
  EXPECT_EQ(some, 5u);
  now += 100ms;
  rate.spend(some, now);
  EXPECT_EQ(rate.allowed(now), 0u) << "twice as many would begin at once";
}

TEST(Rates, SayWhenTheNextMayBegin) {
  Rate rate(4, {});
  Rate::Clock::time_point now{};
  rate.spend(rate.allowed(now), now);
  EXPECT_EQ(rate.allowed(now), 0u);
  EXPECT_EQ(rate.until_next(now), 250ms);
  EXPECT_EQ(rate.allowed(now + 250ms), 1u);
}

}  // namespace
}  // namespace onceward::dispatch
