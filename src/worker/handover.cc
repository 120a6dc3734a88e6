#include "src/worker/handover.h"

#include <algorithm>
#include <utility>

#include "src/common/limits.h"

namespace onceward {

Handover::Due Handover::wait_for_room(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  const auto room = [&] {
    const bool full = waiting_bytes_ >= most_bytes_together;
    return held_ || closed_ || full ? 0 : ahead_ - std::min(ahead_, waiting_.size());
  };
  room_.wait_for(lock, wait, [&] { return room() > 0 || !settlements_.empty() || ended_; });
  return {room(), std::exchange(settlements_, {})};
}

void Handover::deliver(Arrivals& arrivals) {
  std::size_t bytes = 0;
  for (const Delivery& delivery : arrivals.deliveries) bytes += delivery.envelope.payload().size();
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ += bytes;
    if (waiting_.empty()) {
      waiting_.swap(arrivals);
    } else {
      waiting_.append(std::move(arrivals));
    }
  }
  arrivals.clear();
  arrived_.notify_one();
}

void Handover::take(Arrivals& into, std::chrono::milliseconds wait) {
  into.clear();
  {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, wait, [&] { return !waiting_.empty() || closed_ || woken_; });
    woken_ = false;
    waiting_.swap(into);
    waiting_bytes_ = 0;
  }
  room_.notify_one();
}

void Handover::settle(std::span<const Settlement> settlements) {
  {
    const std::lock_guard lock(mutex_);
    settlements_.insert(settlements_.end(), settlements.begin(), settlements.end());
  }
  room_.notify_one();
}

void Handover::receive_ahead(std::size_t most) {
  const std::lock_guard lock(mutex_);
  ahead_ = std::min(batch_, most);
}

void Handover::hold(bool held) {
  {
    const std::lock_guard lock(mutex_);
    held_ = held;
  }
  room_.notify_one();
}

void Handover::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_one();
}

void Handover::end() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = ended_ = true;
  }
  room_.notify_one();
  arrived_.notify_one();
}

bool Handover::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Handover::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  arrived_.notify_one();
}

}  // namespace onceward
