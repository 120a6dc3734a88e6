// How long a message is on its way: from the moment it should have been published, by an open loop that never waits for
// the consumer, to the moment its effect is committed. Beside it a bare consumer with one autocommit insert a message.
#pragma once

#include <vector>

#include "bench/broker/bare.h"
#include "bench/work/latencies.h"
#include "bench/work/postgres_database.h"
#include "bench/work/report.h"

namespace onceward::bench {

struct LatencyOptions {
  double rate = 0;  // messages a second; 0: half of what the bare consumer of this loop can do
};
std::vector<Latency> measure_latency(PostgresDatabase& database, BareBroker& broker, const Workload& work,
                                     const LatencyOptions& options, Progress& progress);
std::vector<Bar> latency_bars(const std::vector<Latency>& latencies);

}  // namespace onceward::bench
