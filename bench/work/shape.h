// One way to do the work, from its connection to its last commit.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>

#include "bench/work/workload.h"

namespace onceward::bench {

struct Effort {
  std::uint64_t round_trips = 0;
  std::uint64_t statements = 0;
  std::uint64_t transactions = 0;  // 0 where nobody counts them
};

class Shape {
 public:
  virtual ~Shape() = default;
  // Returns when every delivery is committed, with the seconds that it took. Called once.
  virtual double run(std::span<const Index> deliveries, std::size_t batch) = 0;
  virtual Effort effort() const = 0;
};

// The seconds that `process` takes for all batches. `arrive` comes before it each time and is not counted: messages have
// just been received when work on them begins, so every shape finds them in the processor's caches.
template <class Arrive, class Process>
double run_in_batches(std::span<const Index> deliveries, std::size_t batch, Arrive arrive, Process process) {
  std::chrono::duration<double> spent{};
  for (std::size_t from = 0; from < deliveries.size(); from += batch) {
    const auto mine = deliveries.subspan(from, std::min(batch, deliveries.size() - from));
    arrive(mine);
    const auto start = std::chrono::steady_clock::now();
    process(mine);
    spent += std::chrono::steady_clock::now() - start;
  }
  return spent.count();
}

}  // namespace onceward::bench
