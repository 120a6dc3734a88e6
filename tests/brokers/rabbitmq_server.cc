#include "tests/brokers/rabbitmq_server.h"

namespace onceward::brokers {

using fixtures::environment;

RabbitmqServer::RabbitmqServer(const std::vector<std::string>& settings) {
  std::vector<std::string> arguments{"any"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  call("start", arguments);
}

RabbitmqServer::~RabbitmqServer() {
  fixtures::run({environment("ONCEWARD_SCRIPTS") + "/rabbitmq", "stop", directory_.path() + "/rabbit", "--kill"});
}

std::string RabbitmqServer::call(const std::string& verb, const std::vector<std::string>& arguments) const {
  std::vector<std::string> line{environment("ONCEWARD_SCRIPTS") + "/rabbitmq", verb, directory_.path() + "/rabbit"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return fixtures::run_well(line);
}

RabbitmqConnection RabbitmqServer::connection() const {
  std::string url = call("status");
  url.resize(url.find_last_not_of(" \n") + 1);
  RabbitmqConnection connection = read_rabbitmq_publisher_url(url).connection;
  connection.connect_deadline = std::chrono::seconds(60);
  return connection;
}

void RabbitmqServer::kill() { call("stop", {"--kill"}); }
void RabbitmqServer::start() { call("start"); }
void RabbitmqServer::sync() { call("sync"); }
void RabbitmqServer::evaluate(const std::string& expression) { tool({"eval", expression}); }
void RabbitmqServer::tool(const std::vector<std::string>& arguments) { call("tool", arguments); }

}  // namespace onceward::brokers
