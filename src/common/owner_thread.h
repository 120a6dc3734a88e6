// Asserts, in debug builds, that what belongs to one thread is used by one thread: the first that used it.
#pragma once

#include <atomic>
#include <cassert>
#include <thread>

namespace onceward {

class OwnerThread {
 public:
  void check() const {
#ifndef NDEBUG
    std::thread::id owner{};
    const std::thread::id caller = std::this_thread::get_id();
    assert((owner_.compare_exchange_strong(owner, caller) || owner == caller) &&
           "used by another thread than its owner");
#endif
  }

 private:
  mutable std::atomic<std::thread::id> owner_{};
};

}  // namespace onceward
