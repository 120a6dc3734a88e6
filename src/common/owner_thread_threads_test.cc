#include <gtest/gtest.h>

#include <thread>

#include "src/common/owner_thread.h"

namespace onceward {
namespace {

TEST(OwnerThreads, TurnsMayNestAndMayBeHandedOn) {
  const OwnerThread owner;
  {
    const OwnerThread::Turn outer(owner);
    const OwnerThread::Turn inner(owner);
  }
  std::jthread([&] { const OwnerThread::Turn turn(owner); }).join();
  const OwnerThread::Turn turn(owner);
}

#ifndef NDEBUG
TEST(OwnerThreadsDeathTest, SecondThreadEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto both = [] {
    const OwnerThread owner;
    const OwnerThread::Turn turn(owner);
    std::jthread([&] { const OwnerThread::Turn second(owner); }).join();
  };
  EXPECT_DEATH(both(), "two threads at once");
}
#endif

}  // namespace
}  // namespace onceward
