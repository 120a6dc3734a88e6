#include "bench/broker/options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

namespace onceward::bench {

void add_to(CLI::App& app, BrokerOptions& options) {
  app.add_option("--broker", options.broker, "rabbitmq, rabbitmq-quorum or kafka")
      ->check(CLI::IsMember({"rabbitmq", "rabbitmq-quorum", "kafka"}))
      ->capture_default_str();
  app.add_option("--store", options.store, "postgres")->check(CLI::IsMember({"postgres"}))->capture_default_str();
  app.add_option("--messages", options.messages, "Messages a run, like 200k")->capture_default_str();
  app.add_option("--batch", options.batch, "Messages that are read or written together")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "How often each shape runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "table or json")->check(CLI::IsMember({"table", "json"}));
}

std::string server(const char* variable) {
  const char* const url = std::getenv(variable);
  if (url == nullptr) throw std::runtime_error(fmt::format("{} is not set; ./run bench sets it", variable));
  return url;
}

std::unique_ptr<BareBroker> broker_named(const std::string& name, const Workload& work) {
  if (name == "kafka") return bare_kafka(server("ONCEWARD_TEST_KAFKA"), work);
  return bare_rabbitmq(server("ONCEWARD_TEST_RABBITMQ"), work,
                       name == "rabbitmq" ? QueueKind::classic : QueueKind::quorum);
}

}  // namespace onceward::bench
