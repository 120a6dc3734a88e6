#include "src/worker/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace onceward {
namespace {

using namespace std::chrono_literals;

void await(const std::atomic<int>& count) {
  while (count == 0) std::this_thread::sleep_for(1ms);
}

TEST(Watchdog, CancelsAtTheBoundAndGivesUpAtTwice) {
  std::atomic<int> cancelled = 0, gave_up = 0;
  Watchdog watchdog(40ms, [&] { ++cancelled; }, [&] { ++gave_up; });
  const auto began = Watchdog::Clock::now();
  const Watched watched(watchdog);
  await(cancelled);
  EXPECT_GE(Watchdog::Clock::now() - began, 40ms);
  await(gave_up);
  EXPECT_GE(Watchdog::Clock::now() - began, 80ms);
  EXPECT_EQ(cancelled, 1);
}

TEST(Watchdog, GivesUpAlsoWhileACancelNeverReturns) {
  std::promise<void> network;
  std::atomic<int> cancelled = 0, gave_up = 0;
  {
    Watchdog watchdog(
        20ms,
        [&, back = network.get_future().share()] {
          ++cancelled;
          back.wait();
        },
        [&] { ++gave_up; });
    const Watched watched(watchdog);
    await(cancelled);
    for (const auto end = Watchdog::Clock::now() + 10s; gave_up == 0 && Watchdog::Clock::now() < end;) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_GT(gave_up, 0);
    EXPECT_EQ(cancelled, 1);
    network.set_value();
  }
}

TEST(Watchdog, LeavesThoseAloneWhoReturnInTime) {
  std::atomic<int> cancelled = 0;
  Watchdog watchdog(200ms, [&] { ++cancelled; }, [] {});
  for (const auto end = Watchdog::Clock::now() + 500ms; Watchdog::Clock::now() < end;) {
    const Watched watched(watchdog);
    std::this_thread::sleep_for(1ms);
  }
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(cancelled, 0);
}

}  // namespace
}  // namespace onceward
