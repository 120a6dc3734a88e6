// One way to do the work, from its connection to its last commit.
#pragma once

#include <cstdint>
#include <span>

#include "bench/work/workload.h"

namespace onceward::bench {

struct Effort {
  std::uint64_t round_trips = 0;
  std::uint64_t statements = 0;
};

class Shape {
 public:
  virtual ~Shape() = default;
  // Returns when every delivery is committed. Called once.
  virtual void run(std::span<const Index> deliveries, std::size_t batch) = 0;
  virtual Effort effort() const = 0;
};

}  // namespace onceward::bench
