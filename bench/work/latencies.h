// Times that single messages took, and how they are told.
#pragma once

#include <string>
#include <vector>

namespace onceward::bench {

struct Latency {
  std::string broker, name;
  double rate = 0;                    // messages a second; 0: each after the one before
  double p50 = 0, p99 = 0, most = 0;  // milliseconds
  std::size_t messages = 0;
};
Latency latency_of(std::vector<double> milliseconds);
void print_latencies(const std::vector<Latency>& latencies, bool json);

}  // namespace onceward::bench
