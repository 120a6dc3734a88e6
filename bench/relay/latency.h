// How long a message that was staged while the relay had nothing to do takes from its commit to the broker's confirm; beside
// it a bare publish of the same message, from the call to the confirm.
#pragma once

#include <vector>

#include "bench/relay/shapes.h"
#include "bench/work/latencies.h"
#include "bench/work/report.h"

namespace onceward::bench {

struct RelayLatency {
  std::vector<Latency> latencies;  // raw, then Onceward's
  std::vector<Bar> bars;
};
RelayLatency measure_relay_latency(const RelayBench& bench, Progress& progress);

}  // namespace onceward::bench
