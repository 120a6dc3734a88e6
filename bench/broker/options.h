// What the benches with a broker are told alike, and where they find their servers.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "bench/broker/bare.h"

namespace onceward::bench {

struct BrokerOptions {
  std::string broker = "rabbitmq-quorum";
  std::string store = "postgres";
  std::string messages = "200k";
  std::size_t batch = 1000;
  std::size_t rounds = 3;
  std::string output = "table";
  bool json() const { return output == "json"; }
};
void add_to(CLI::App& app, BrokerOptions& options);

// The URL in a variable that ./run bench sets. Throws std::runtime_error.
std::string server(const char* variable);
std::unique_ptr<BareBroker> broker_named(const std::string& name, const Workload& work);

}  // namespace onceward::bench
