// How many calls are marked as attempts before there is room to start them. They start as soon as answers make room, without a
// commit in between: so the store is asked once for many calls, and an endpoint that answers quickly is not kept waiting by it.
//
// What is marked when its dispatcher dies is unknown. So there is nothing of this where an unknown outcome would be a person's (it
// is neither asked for nor sent again), and no more is marked than is answered in a few moments.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace onceward::dispatch {

class Ahead {
 public:
  using Clock = std::chrono::steady_clock;

  // Between two turns, while there is something to start without one.
  static constexpr std::chrono::milliseconds moment{4};

  explicit Ahead(std::size_t most) : most_(most) {}

  // So many answers came in this time, the last turn among it, which took so long. Twice as many as come until the next one
  // has ended: they need not come evenly.
  void note(std::size_t answers, Clock::duration within, Clock::duration turn) {
    const double times =
        (moment + turn) / std::max<std::chrono::duration<double>>(within, std::chrono::microseconds(1));
    wanted_ = static_cast<std::size_t>(std::min(static_cast<double>(most_), 2 * times * static_cast<double>(answers)));
  }
  // How many more, beside those that wait.
  std::size_t room(std::size_t waiting) const { return wanted_ > waiting ? wanted_ - waiting : 0; }

 private:
  const std::size_t most_;
  std::size_t wanted_ = 0;
};

}  // namespace onceward::dispatch
