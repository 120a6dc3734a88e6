// The sleep of a thread that others may wake. A word that comes while it is awake ends the next one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace onceward::relay {

class Sleep {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // From any thread.
  void wake() noexcept {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  // Whether somebody woke it.
  bool until(Time time) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [this] { return woken_; });
    return std::exchange(woken_, false);
  }
  // Whatever there is to wake it for, but for a stop, with which somebody wakes it too.
  void until_or_stop(Time time, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [&] { return stop.stop_requested(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

}  // namespace onceward::relay
