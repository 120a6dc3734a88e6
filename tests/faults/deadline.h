// A test that may hang inside a library's call cannot end itself: this ends it, and it fails under its own name.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace onceward::faults {

class Deadline {
 public:
  // Unless destroyed before, fails the current test and calls `release`, on a thread of its own, until it is destroyed.
  Deadline(std::chrono::seconds after, std::function<void()> release)
      : release_(std::move(release)), thread_([this, after](const std::stop_token& stop) { watch(stop, after); }) {}

 private:
  void watch(const std::stop_token& stop, std::chrono::seconds after) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    const auto wait = [&](auto time) {
      return stopped.wait_for(lock, stop, time, [&] { return stop.stop_requested(); });
    };
    if (wait(after)) return;
    ADD_FAILURE() << name_ << " hangs: it has not ended within " << after.count() << " s";
    do {
      release_();
    } while (!wait(std::chrono::milliseconds(100)));
  }

  static std::string current_test() {
    const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
    return test == nullptr ? "a test" : std::string(test->test_suite_name()) + "." + test->name();
  }

  const std::string name_ = current_test();
  std::function<void()> release_;
  std::jthread thread_;
};

}  // namespace onceward::faults
