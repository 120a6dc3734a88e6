// How many calls may begin now: a bucket into which tokens drip. It holds a tenth of a second's worth, so that a pause is not
// followed by a storm.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>

namespace onceward::dispatch {

class Rate {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: no limit.
  Rate(double calls_a_second, Clock::time_point now)
      : each_second_(calls_a_second), most_(std::max(1.0, calls_a_second / 10)), tokens_(most_), at_(now) {}

  std::size_t allowed(Clock::time_point now) {
    if (each_second_ <= 0) return std::numeric_limits<std::size_t>::max();
    drip(now);
    return static_cast<std::size_t>(std::max(0.0, tokens_));
  }
  // When they begin, which may be a while after they were allowed: meanwhile nothing is saved up.
  void spend(std::size_t calls, Clock::time_point now) {
    if (each_second_ <= 0) return;
    drip(now);
    tokens_ -= static_cast<double>(calls);
  }
  // Until allowed() is more than nothing.
  Clock::duration until_next(Clock::time_point now) {
    if (allowed(now) > 0) return {};
    const double nanoseconds = std::ceil((1.0 - tokens_) / each_second_ * 1e9);
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds)));
  }

 private:
  void drip(Clock::time_point now) {
    tokens_ = std::min(most_, tokens_ + each_second_ * std::chrono::duration<double>(now - at_).count());
    at_ = now;
  }

  const double each_second_, most_;
  double tokens_;
  Clock::time_point at_;
};

}  // namespace onceward::dispatch
