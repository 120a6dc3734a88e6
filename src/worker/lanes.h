// Order by partition: a message that waits for its next attempt holds back what came after it in its partition, and nobody
// else. They are kept here and not settled, so that after a crash all of them come again, in their order.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "onceward/port/source.h"
#include "src/common/limits.h"
#include "src/worker/applier.h"
#include "src/worker/arrivals.h"

namespace onceward {

class Lanes {
 public:
  using Clock = std::chrono::steady_clock;

  // Takes what has come out of `arrivals` where its lane waits, and puts what has waited long enough before the rest.
  void pass(Arrivals& arrivals, Clock::time_point now);
  // Of those that were run, the ones that were put off and all behind them in their partitions wait from now on.
  void keep(Arrivals& ran, std::span<const Applier::PutOff> put_off, Clock::time_point now);

  // The attempts that a message has used which was put off; 0 of any other.
  int attempts(std::uint64_t tag) const;
  // When the next lane has waited long enough.
  std::optional<Clock::time_point> next() const;
  // Whether so many wait, by number or by their bytes, that no more are to be received.
  bool full(std::size_t most) const { return held_ >= most || held_bytes_ >= most_bytes_together; }

 private:
  struct Lane {
    Clock::time_point until;
    std::uint64_t first = 0;  // the tag that was put off
    int attempts = 0;
    Arrivals waiting;
  };

  void hold(Lane& lane, Arrivals& from, std::size_t index);

  std::map<std::int32_t, Lane> lanes_;    // those that wait
  std::map<std::uint64_t, int> running_;  // attempts of those that were passed on
  std::size_t held_ = 0;
  std::size_t held_bytes_ = 0;
};

}  // namespace onceward
