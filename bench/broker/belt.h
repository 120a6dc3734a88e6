// Between the thread that reads and those that write: loads one way, how many messages are through the other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace onceward::bench {

template <class Cargo>
struct Load {
  std::uint64_t before = 0;  // how many messages were read before these
  std::uint64_t count = 0;
  Cargo cargo;
};

template <class Cargo>
class Belt {
 public:
  explicit Belt(std::size_t most) : most_(most) {}

  bool has_room() {
    const std::lock_guard lock(mutex_);
    return waiting_.size() < most_;
  }
  void put(Load<Cargo> load) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(load));
    }
    changed_.notify_all();
  }
  // Nothing once it is closed.
  std::optional<Load<Cargo>> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return std::nullopt;
    Load<Cargo> load = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return load;
  }
  // Committed, or confirmed: so many messages after the first `before`.
  void through(std::uint64_t before, std::uint64_t count) {
    {
      const std::lock_guard lock(mutex_);
      done_.insert({before, before + count});
      while (!done_.empty() && done_.begin()->first == prefix_) {
        prefix_ = done_.begin()->second;
        done_.erase(done_.begin());
      }
    }
    changed_.notify_all();
  }
  // How many of the first read are through, all of them.
  std::uint64_t prefix() {
    const std::lock_guard lock(mutex_);
    return prefix_;
  }
  // Until there is room or more than `known` are through.
  void await_change(std::uint64_t known, bool for_room) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(100),
                      [&] { return prefix_ > known || (for_room && waiting_.size() < most_); });
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Load<Cargo>> waiting_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> done_;  // beyond the prefix
  std::uint64_t prefix_ = 0;
  bool closed_ = false;
};

}  // namespace onceward::bench
