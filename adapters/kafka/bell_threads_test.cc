#include <gtest/gtest.h>

#include <thread>

#include "adapters/kafka/bell.h"

namespace onceward::kafka {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST(Bell, IsWaitedForAsLongAsWasSaid) {
  Bell bell;
  const auto begin = steady_clock::now();
  EXPECT_FALSE(bell.wait(begin + 30ms));
  EXPECT_GE(steady_clock::now() - begin, 30ms);
  EXPECT_FALSE(bell.wait(begin)) << "a moment that has passed is not waited for";
}

TEST(Bell, SeveralWakesAreOne) {
  Bell bell;
  bell.wake();
  bell.wake();
  EXPECT_TRUE(bell.wait(steady_clock::now() + 60s));
  EXPECT_FALSE(bell.wait(steady_clock::now()));
  EXPECT_FALSE(bell.wait(steady_clock::now() + 20ms));
}

TEST(Bell, WakesWhoWaits) {
  Bell bell;
  std::jthread waker([&] { bell.wake(); });
  EXPECT_TRUE(bell.wait(steady_clock::now() + 60s));
}

}  // namespace
}  // namespace onceward::kafka
