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
  static constexpr std::chrono::milliseconds until_away{2'000}, until_away_again{500};
  static constexpr std::chrono::milliseconds first_rest{5'000}, longest_rest{60'000};

  // It has confirmed or refused something.
  void heard() { *this = {}; }
  // Something was sent, and it has not been heard since.
  void goes_on(Time now) {
    if (!since_) since_ = now;
  }
  // Nothing is under way any longer: what there was has been given back. It is let alone for a while, a longer one each
  // time, and then tried with what comes.
  void nothing_under_way(Time now) {
    if (since_ && away(now)) rest_until_ = now + std::min(first_rest * (1 << std::min(rests_++, 4)), longest_rest);
    since_.reset();
  }

  bool away(Time now) const {
    return now < rest_until_ || (since_ && now - *since_ > (rests_ > 0 ? until_away_again : until_away));
  }

 private:
  std::optional<Time> since_;
  Time rest_until_{};
  int rests_ = 0;
};

}  // namespace onceward::relay
