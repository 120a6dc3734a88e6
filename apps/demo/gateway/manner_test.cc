#include "apps/demo/gateway/manner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "apps/demo/payment.h"

namespace onceward::demo {
namespace {

std::string key_number(int number) { return fmt::format("cr-7-{:06}", number); }

TEST(GatewayManner, IsAFunctionOfSeedAndKey) {
  int others = 0;
  for (int i = 0; i < 2'000; ++i) {
    EXPECT_EQ(conduct_of(7, key_number(i)).manner, conduct_of(7, key_number(i)).manner);
    EXPECT_EQ(conduct_of(7, key_number(i)).delay, conduct_of(7, key_number(i)).delay);
    others += conduct_of(7, key_number(i)).manner == conduct_of(8, key_number(i)).manner ? 0 : 1;
  }
  EXPECT_GT(others, 20);
  EXPECT_EQ(conduct_of(7, "cr-7-000000").manner, Manner::prompt) << "the same on every machine";
}

TEST(GatewayManner, MostlyAnswersAtOnceAndHasSomeOfEverything) {
  std::map<Manner, int> counts;
  for (int i = 0; i < 20'000; ++i) ++counts[conduct_of(7, key_number(i)).manner];
  for (int manner = 0; manner < manners; ++manner) EXPECT_GT(counts[static_cast<Manner>(manner)], 5) << manner;
  EXPECT_GT(counts[Manner::prompt], 19'000);
}

TEST(GatewayManner, SlowIsInTimeAndTooSlowIsNot) {
  for (int i = 0; i < 20'000; ++i) {
    const Conduct conduct = conduct_of(7, key_number(i));
    if (conduct.manner == Manner::slow) EXPECT_LT(conduct.delay, call_timeout / 2);
    if (conduct.manner == Manner::too_slow) EXPECT_GT(conduct.delay, call_timeout);
  }
}

}  // namespace
}  // namespace onceward::demo
