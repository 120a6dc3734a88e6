#include "src/relay/silence.h"

#include <gtest/gtest.h>

namespace onceward::relay {
namespace {

using namespace std::chrono_literals;

class SilenceTest : public testing::Test {
 protected:
  Silence::Time at(std::chrono::milliseconds time) const { return start_ + time; }

  const Silence::Time start_ = Silence::Time(1h);
  Silence silence_{2s};
};

TEST_F(SilenceTest, NothingIsAwayThatWasNotSentAnything) {
  silence_.nothing_under_way(at(0s));
  EXPECT_FALSE(silence_.away(at(1h)));
}

TEST_F(SilenceTest, WhatIsNotHeardForAWhileIsAwayUntilItIsHeard) {
  silence_.goes_on(at(0s));
  silence_.goes_on(at(1900ms));
  EXPECT_FALSE(silence_.away(at(1900ms)));
  EXPECT_TRUE(silence_.away(at(2100ms)));
  silence_.heard();
  EXPECT_FALSE(silence_.away(at(2100ms)));
}

TEST_F(SilenceTest, OneThatAnswersNowAndThenIsThere) {
  for (int i = 0; i < 10; ++i) {
    silence_.goes_on(at(i * 1s));
    silence_.heard();
  }
  EXPECT_FALSE(silence_.away(at(10s)));
}

// Each time it is let alone for longer, and tried for a shorter time than at first.
TEST_F(SilenceTest, IsTriedAgainEverMoreSeldom) {
  silence_.goes_on(at(0s));
  silence_.nothing_under_way(at(3s));
  EXPECT_TRUE(silence_.away(at(7900ms)));
  EXPECT_FALSE(silence_.away(at(8100ms)));
  silence_.goes_on(at(9s));
  EXPECT_FALSE(silence_.away(at(9400ms)));
  EXPECT_TRUE(silence_.away(at(9600ms)));
  silence_.nothing_under_way(at(10s));
  EXPECT_TRUE(silence_.away(at(19900ms)));
  EXPECT_FALSE(silence_.away(at(20100ms)));
  silence_.heard();
  silence_.goes_on(at(21s));
  EXPECT_FALSE(silence_.away(at(22900ms)));
}

}  // namespace
}  // namespace onceward::relay
