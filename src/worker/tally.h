// How a worker's doings are counted: by whole batches, so that no counter is touched for every message.
#pragma once

#include <chrono>
#include <span>

#include "onceward/worker.h"
#include "src/worker/round.h"

namespace onceward {

inline void bump(ConsumerTally::Count& count, std::uint64_t by = 1) { count.fetch_add(by, std::memory_order_relaxed); }

void count_answers(ConsumerTally& tally, const Round& round, std::span<const Answer> answers);
// What became of those that were run.
void count_outcomes(ConsumerTally& tally, const Round& round, Part firsts);

// A message that is to be tried again, and of which nothing else is kept.
void count_put_off(ConsumerTally& tally, const Round& round, Index index);

// The times of one transaction; counted if it is committed.
class Laps {
 public:
  void claimed() { claimed_ = Clock::now(); }
  void handled() { handled_ = Clock::now(); }
  void committed(ConsumerTally& tally) const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now(), claimed_, handled_;
};

}  // namespace onceward
