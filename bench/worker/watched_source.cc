#include "bench/worker/watched_source.h"

#include <fmt/format.h>

#include <stdexcept>

namespace onceward::bench {

WatchedSource::Clock::time_point WatchedSource::await_settled(std::uint64_t count, std::chrono::seconds deadline) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, deadline, [&] { return settled() >= count; })) {
    throw std::runtime_error(
        fmt::format("{} of {} deliveries were settled in {} s", settled(), count, deadline.count()));
  }
  return last_;
}

void WatchedSource::receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) {
  if (hooks_.before_receive) hooks_.before_receive(most);
  const std::size_t before = into.size();
  source_->receive(into, most, wait);
  received_.fetch_add(into.size() - before, std::memory_order_relaxed);
  if (hooks_.arrived) hooks_.arrived(std::span(into).subspan(before));
}

void WatchedSource::settle(std::span<const Settlement> settlements) {
  if (hooks_.settling) hooks_.settling(settlements);
  source_->settle(settlements);
  {
    const std::lock_guard lock(mutex_);
    settled_.fetch_add(settlements.size(), std::memory_order_relaxed);
    last_ = Clock::now();
  }
  changed_.notify_all();
}

}  // namespace onceward::bench
