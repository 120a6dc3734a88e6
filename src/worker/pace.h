// How many messages one transaction may hold where handlers run one by one, learned from how long they took. A thousand slow
// handlers in one transaction would keep it open for longer than a server allows a session to be idle, and would keep those
// that were received with them from the source for longer than it waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace onceward {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // The handlers of a transaction are to take no longer than `budget` in all.
  Pace(std::size_t batch, Clock::duration budget) : batch_(batch), budget_(budget) {}

  std::size_t most() const { return most_; }

  void ran(std::size_t messages, Clock::duration time) {
    if (messages == 0) return;
    if (time > budget_) {
      const double part = static_cast<double>(budget_.count()) / static_cast<double>(time.count());
      most_ = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(messages) * part));
    } else if (messages >= most_ && 2 * time <= budget_) {
      most_ = std::min(batch_, 2 * most_);
    }
  }

  // Takes the time of what runs while this lives, however it ends.
  class Run {
   public:
    Run(Pace& pace, std::size_t messages) : pace_(pace), messages_(messages) {}
    ~Run() { pace_.ran(messages_, Clock::now() - began_); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    Pace& pace_;
    std::size_t messages_;
    Clock::time_point began_ = Clock::now();
  };

 private:
  std::size_t batch_;
  Clock::duration budget_;
  std::size_t most_ = batch_;
};

}  // namespace onceward
