#include "adapters/kafka/client.h"

#include <gtest/gtest.h>

namespace onceward::kafka {
namespace {

using namespace std::chrono_literals;

// One of three brokers may fail today and another tomorrow, without the topic ever being out of reach.
TEST(KafkaRepetition, WhatWasNotHeardForAMinuteIsNewsAgain) {
  Repetition repetition;
  std::chrono::steady_clock::time_point now{};
  EXPECT_TRUE(repetition.is_news(Trouble::Kind::unreachable, now));
  for (int time = 0; time < 100; ++time) EXPECT_FALSE(repetition.is_news(Trouble::Kind::unreachable, now += 30s));
  EXPECT_TRUE(repetition.is_news(Trouble::Kind::login, now));
  EXPECT_FALSE(repetition.is_news(Trouble::Kind::unreachable, now));
  EXPECT_TRUE(repetition.is_news(Trouble::Kind::unreachable, now + 60s));
}

}  // namespace
}  // namespace onceward::kafka
