// How many messages the broker may push ahead. The last of them waits for all before it, and when the broker has waited for too
// long it takes all of them back, which counts as a delivery of each. So there are fewer after that, and more again once twice
// as many would be done in half of that time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace onceward::rabbitmq {

class Prefetch {
 public:
  using Clock = std::chrono::steady_clock;

  Prefetch(std::uint16_t most, Clock::duration timeout) : most_(most), timeout_(timeout), count_(most) {}

  std::uint16_t count() const { return count_; }

  // The broker begins to push so many.
  void begin(Clock::time_point now) {
    settled_ = 0;
    begin_round(now);
  }
  void settled(std::size_t messages) {
    settled_ += messages;
    of_round_ += messages;
  }

  // At least by half, and to half of what was done meanwhile.
  void timed_out() {
    count_ = static_cast<std::uint16_t>(std::max<std::size_t>(1, std::min<std::size_t>(count_, settled_) / 2));
  }
  // True if there are more than before.
  bool grow(Clock::time_point now) {
    if (count_ == most_ || of_round_ < count_) return false;
    const bool quick = now - round_began_ <= timeout_ / 4;
    if (quick) count_ = static_cast<std::uint16_t>(std::min(2 * count_, int{most_}));
    begin_round(now);
    return quick;
  }

 private:
  void begin_round(Clock::time_point now) {
    round_began_ = now;
    of_round_ = 0;
  }

  const std::uint16_t most_;
  const Clock::duration timeout_;
  std::uint16_t count_;
  std::size_t settled_ = 0;  // since it began to push
  // As many as may be pushed ahead are a round.
  Clock::time_point round_began_{};
  std::size_t of_round_ = 0;
};

}  // namespace onceward::rabbitmq
