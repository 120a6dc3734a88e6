// Whether a broker that takes messages also says what became of them: one that puts everything off, or never confirms, is as
// good as away. Knows no clock and no thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace onceward::relay {

class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // It is away when it was not heard for as long as `patience`, and a quarter of that when it is tried again.
  explicit Silence(std::chrono::milliseconds patience) : patience_(patience) {}

  // It has confirmed or refused something.
  void heard() { *this = Silence(patience_); }
  // Something was sent, and it has not been heard since.
  void goes_on(Time now) {
    if (!since_) since_ = now;
  }
  // Nothing is under way any longer: what there was has been given back. It is let alone for a while, a longer one each
  // time, and then tried with what comes.
  void nothing_under_way(Time now) {
    if (since_ && away(now)) rest_until_ = now + rest(rests_++);
    since_.reset();
  }

  bool away(Time now) const {
    return now < rest_until_ || (since_ && now - *since_ > (rests_ > 0 ? patience_ / 4 : patience_));
  }

 private:
  std::chrono::milliseconds rest(int before) const {
    return std::min(patience_ * 5 / 2 * (1 << std::min(before, 4)), patience_ * 30);
  }

  std::chrono::milliseconds patience_;
  std::optional<Time> since_;
  Time rest_until_{};
  int rests_ = 0;
};

}  // namespace onceward::relay
