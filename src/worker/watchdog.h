// Holds handlers to their time bound, from threads of its own: at the bound the running statement is cancelled, at twice the
// bound the process ends. That is safe: the attempt was counted, or the messages come back as suspects. To cancel may take
// long, or for ever where the network is dead; the end does not wait for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace onceward {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  // `cancel` ends the running statement; `give_up` does not return. Each is called from a thread of the watchdog's. The
  // destructor waits for a cancel that is under way.
  Watchdog(std::chrono::milliseconds bound, std::function<void()> cancel, std::function<void()> give_up);

  // A handler begins; the one before it has returned.
  void begin() { began_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }
  void end() { began_.store(0, std::memory_order_relaxed); }

 private:
  void watch(std::stop_token stop);
  void cancel_late(std::stop_token stop);

  const std::chrono::milliseconds bound_;
  const std::function<void()> cancel_, give_up_;
  std::atomic<Clock::rep> began_{0};  // 0: no handler runs
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Clock::rep late_ = 0;               // when the handler began that has passed its bound; by mutex_
  std::jthread watcher_, canceller_;  // last: they use all of the above
};

// Between begin() and end(), however the handler returns.
class Watched {
 public:
  explicit Watched(Watchdog& watchdog) : watchdog_(watchdog) { watchdog_.begin(); }
  ~Watched() { watchdog_.end(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  Watchdog& watchdog_;
};

}  // namespace onceward
