#include "tests/brokers/rabbitmq_server.h"

#include <sstream>

namespace onceward::brokers {

using fixtures::environment;

RabbitmqServer::RabbitmqServer(const std::vector<std::string>& settings, int nodes) {
  std::vector<std::string> arguments{"any", "--nodes", std::to_string(nodes)};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  call("start", arguments);
}

RabbitmqServer::~RabbitmqServer() {
  fixtures::run({environment("ONCEWARD_SCRIPTS") + "/rabbitmq", "stop", directory(), "--kill"});
}

std::string RabbitmqServer::call(const std::string& verb, const std::vector<std::string>& arguments) const {
  std::vector<std::string> line{environment("ONCEWARD_SCRIPTS") + "/rabbitmq", verb, directory()};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return fixtures::run_well(line);
}

std::vector<RabbitmqConnection> RabbitmqServer::connections() const {
  std::vector<RabbitmqConnection> connections;
  std::istringstream urls(call("status"));
  for (std::string url; urls >> url;) {
    connections.push_back(read_rabbitmq_publisher_url(url).connection);
    connections.back().connect_deadline = std::chrono::seconds(60);
  }
  return connections;
}

void RabbitmqServer::kill() { call("stop", {"--kill"}); }
void RabbitmqServer::kill(int node) { call("stop", {"--kill", "--node", std::to_string(node)}); }
void RabbitmqServer::start() { call("start"); }
void RabbitmqServer::sync() { call("sync"); }
void RabbitmqServer::evaluate(const std::string& expression) { tool({"eval", expression}); }
void RabbitmqServer::tool(const std::vector<std::string>& arguments) { call("tool", arguments); }

}  // namespace onceward::brokers
