// How long a message is on its way: from the moment it should have been published, by an open loop that never waits for
// the consumer, to the moment its effect is committed. Beside it a bare consumer with one autocommit insert a message.
#pragma once

#include <string>
#include <vector>

#include "bench/broker/bare.h"
#include "bench/work/postgres_database.h"
#include "bench/work/report.h"

namespace onceward::bench {

struct LatencyOptions {
  double rate = 0;  // messages a second; 0: half of what the bare consumer of this loop can do
};
struct Latency {
  std::string broker, name;
  double rate = 0;
  double p50 = 0, p99 = 0, most = 0;  // milliseconds
  std::size_t messages = 0;
};
std::vector<Latency> measure_latency(PostgresDatabase& database, BareBroker& broker, const Workload& work,
                                     const LatencyOptions& options, Progress& progress);
// 0, since times are forgiven.
int print_latencies(const std::vector<Latency>& latencies, bool json);

}  // namespace onceward::bench
