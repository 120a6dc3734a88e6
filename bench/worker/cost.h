// What a message costs in instructions and allocations: the shape is run under callgrind with N and with 2N messages, and
// half of nothing but the difference is counted. Exact on a busy machine too.
#pragma once

#include <cstdint>
#include <string>

namespace onceward::bench {

struct CostRun {
  std::string shape = "batch";
  std::string store = "sqlite";
  std::string ids = "random";
  std::size_t messages = 10'000;  // N
  std::size_t batch = 1000;
};

// Runs this program twice under callgrind and prints what a message costs. Throws std::runtime_error.
void print_cost(const CostRun& run);
// What is run there: the shape once, on an empty database. Prints the allocations of the measured time.
int run_for_cost(const CostRun& run, const std::string& directory);

}  // namespace onceward::bench
