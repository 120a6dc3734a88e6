#include "bench/work/latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace onceward::bench {

Latency latency_of(std::vector<double> milliseconds) {
  std::ranges::sort(milliseconds);
  const auto at = [&](double share) {
    return milliseconds.at(static_cast<std::size_t>(share * static_cast<double>(milliseconds.size() - 1)));
  };
  Latency latency;
  latency.p50 = at(0.5);
  latency.p99 = at(0.99);
  latency.most = milliseconds.back();
  latency.messages = milliseconds.size();
  return latency;
}

void print_latencies(const std::vector<Latency>& latencies, bool json) {
  auto list = nlohmann::ordered_json::array();
  for (const Latency& one : latencies) {
    list.push_back({{"broker", one.broker},
                    {"name", one.name},
                    {"per_second", one.rate},
                    {"p50_ms", one.p50},
                    {"p99_ms", one.p99},
                    {"max_ms", one.most},
                    {"messages", one.messages}});
    if (json) continue;
    const std::string rate = one.rate > 0 ? fmt::format("{:.0f}/s", one.rate) : "one by one";
    fmt::print("{:<16} {:<9} {:>10}   p50 {:>7.2f} ms   p99 {:>7.2f} ms   most {:>7.2f} ms   of {} messages\n",
               one.broker, one.name, rate, one.p50, one.p99, one.most, one.messages);
  }
  if (json) fmt::print("{}\n", list.dump(2));
}

}  // namespace onceward::bench
