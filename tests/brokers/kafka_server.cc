#include "tests/brokers/kafka_server.h"

#include <fmt/format.h>

namespace onceward::brokers {

using fixtures::run_well;

// Each node has three of ten; the next is for a proxy.
KafkaServer::KafkaServer(Through through, int nodes, std::vector<std::string> settings)
    : nodes_(nodes), port_(fixtures::free_port(10 * (nodes - 1) + 4)), settings_(std::move(settings)) {
  if (through == Through::proxy) proxy_ = std::make_unique<faults::Proxy>(port_, port_ + 3);
  start();
}

void KafkaServer::renew_proxy() {
  const int port = proxy_->port();
  proxy_.reset();
  proxy_ = std::make_unique<faults::Proxy>(port_, port);
}

KafkaServer::~KafkaServer() {
  auto line = command("stop");
  line.emplace_back("--kill");
  fixtures::run(line);
}

std::vector<std::string> KafkaServer::command(const std::string& verb) const {
  return {fixtures::environment("ONCEWARD_SCRIPTS") + "/kafka", verb, directory()};
}

std::string KafkaServer::brokers() const {
  std::string all = fmt::format("127.0.0.1:{}", proxy_ ? proxy_->port() : port_);
  for (int node = 1; node < nodes_; ++node) all += fmt::format(",127.0.0.1:{}", port_ + 10 * node);
  return all;
}

std::string KafkaServer::sasl_url() const {
  return fmt::format("kafka://onceward:once%40ward%2F1@localhost:{}", port_ + 1);
}

void KafkaServer::start() {
  auto line = command("start");
  line.insert(line.end(), {std::to_string(port_), "--nodes", std::to_string(nodes_)});
  for (const std::string& setting : settings_) line.insert(line.end(), {"--set", setting});
  if (proxy_) {
    line.emplace_back("--set");
    line.push_back(fmt::format("advertised.listeners=PLAINTEXT://127.0.0.1:{},SASL_SSL://localhost:{}", proxy_->port(),
                               port_ + 1));
  }
  run_well(line);
}

void KafkaServer::stop() { run_well(command("stop")); }

void KafkaServer::kill() {
  auto line = command("stop");
  line.emplace_back("--kill");
  run_well(line);
}

void KafkaServer::kill(int node) {
  auto line = command("stop");
  line.insert(line.end(), {"--kill", "--node", std::to_string(node)});
  run_well(line);
}

pid_t KafkaServer::pid() const { return static_cast<pid_t>(std::stol(run_well(command("pid")))); }

}  // namespace onceward::brokers
