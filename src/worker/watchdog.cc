#include "src/worker/watchdog.h"

#include <algorithm>

namespace onceward {

Watchdog::Watchdog(std::chrono::milliseconds bound, std::function<void()> cancel, std::function<void()> give_up)
    : bound_(bound),
      cancel_(std::move(cancel)),
      give_up_(std::move(give_up)),
      watcher_([this](std::stop_token stop) { watch(stop); }),
      canceller_([this](std::stop_token stop) { cancel_late(stop); }) {}

// Looks a few times within a bound instead of being told of every handler: those are many and short.
void Watchdog::watch(std::stop_token stop) {
  using std::chrono::milliseconds;
  const auto pause = std::clamp(bound_ / 8, milliseconds(1), milliseconds(500));
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, pause, [] { return false; });
    const Clock::rep began = began_.load(std::memory_order_relaxed);
    if (began == 0 || stop.stop_requested()) continue;
    const auto passed = Clock::now().time_since_epoch() - Clock::duration(began);
    if (passed >= 2 * bound_) give_up_();
    if (passed >= bound_ && late_ != began) {
      late_ = began;
      changed_.notify_all();
    }
  }
}

void Watchdog::cancel_late(std::stop_token stop) {
  Clock::rep cancelled = 0;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return late_ != cancelled; })) {
    cancelled = late_;
    lock.unlock();
    if (began_.load(std::memory_order_relaxed) == cancelled) cancel_();
    lock.lock();
  }
}

}  // namespace onceward
