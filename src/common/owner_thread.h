// What belongs to one thread says so at the top of its functions: `const OwnerThread::Turn turn(owner_);`. A second
// thread that comes in meanwhile ends the process, in builds without NDEBUG; else it costs nothing. An object may be handed
// from one thread to another between two turns.
#pragma once

#ifndef NDEBUG
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#endif

namespace onceward {

#ifdef NDEBUG

class OwnerThread {
 public:
  OwnerThread() {}
  class Turn {
   public:
    explicit Turn(const OwnerThread&) {}
  };
};

#else

class OwnerThread {
 public:
  class Turn {
   public:
    explicit Turn(const OwnerThread& owner) : owner_(owner) {
      std::thread::id nobody;
      const std::thread::id self = std::this_thread::get_id();
      // Relaxed: this finds two threads at once, it must not order them and so hide them from ThreadSanitizer.
      outer_ = owner_.inside_.compare_exchange_strong(nobody, self, std::memory_order_relaxed);
      if (outer_ || nobody == self) return;
      std::fputs("onceward: two threads at once in what belongs to one\n", stderr);
      std::abort();
    }
    ~Turn() {
      if (outer_) owner_.inside_.store({}, std::memory_order_relaxed);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const OwnerThread& owner_;
    bool outer_ = false;
  };

 private:
  mutable std::atomic<std::thread::id> inside_{};
};

#endif

}  // namespace onceward
