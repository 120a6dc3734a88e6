// A backlog and an endpoint that is away: nobody listens, then it refuses, then it is well. The dispatcher works all the while.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/dispatch/dispatching.h"
#include "bench/dispatch/shapes.h"
#include "bench/work/report.h"

namespace onceward::bench {

struct Outage {
  struct Down {
    double seconds = 0;
    std::uint64_t attempts = 0;
  };
  Down away, refusing;
  std::uint64_t most_in_a_second = 0;  // requests after the server was well, by its own clock
  double drained_in = 0;               // seconds since then
  struct Mark {
    int percent = 0;  // of the calls, made
    std::uint64_t resident_bytes = 0;
  };
  std::vector<Mark> marks;
  std::vector<Bar> bars;
};
// The job's URL is that of the server that is made for it.
Outage measure_outage(const DispatchBench& bench, DispatchJob job, Progress& progress);
void print_outage(const Outage& outage, bool json);

}  // namespace onceward::bench
