// How much memory a relay takes while it empties a long outbox. What arrives is drained and checked meanwhile, so that the
// broker need not keep it.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/relay/shapes.h"
#include "bench/work/report.h"

namespace onceward::bench {

struct RelayMemory {
  struct Mark {
    int percent = 0;  // of the messages, published
    std::uint64_t resident_bytes = 0;
  };
  std::vector<Mark> marks;
  std::vector<Bar> bars;
};
RelayMemory measure_relay_memory(const RelayBench& bench, std::size_t page, Progress& progress);

}  // namespace onceward::bench
