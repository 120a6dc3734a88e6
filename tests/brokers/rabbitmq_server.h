// A RabbitMQ of a test's own, to be killed, and to be told what no shared one may be told.
#pragma once

#include <string>
#include <vector>

#include "onceward/adapter/rabbitmq.h"
#include "tests/fixtures/process.h"

namespace onceward::brokers {

class RabbitmqServer {
 public:
  explicit RabbitmqServer(const std::vector<std::string>& settings = {}, int nodes = 1);
  ~RabbitmqServer();
  RabbitmqServer(const RabbitmqServer&) = delete;
  RabbitmqServer& operator=(const RabbitmqServer&) = delete;

  RabbitmqConnection connection() const { return connections().front(); }
  std::vector<RabbitmqConnection> connections() const;  // one a node
  std::string directory() const { return directory_.path() + "/rabbit"; }
  void kill();
  void kill(int node);
  void start();
  // Writes down the queues that were just declared, which a kill would lose.
  void sync();
  // Evaluates Erlang in it.
  void evaluate(const std::string& expression);
  void tool(const std::vector<std::string>& arguments);

 private:
  std::string call(const std::string& verb, const std::vector<std::string>& arguments = {}) const;

  fixtures::TemporaryDirectory directory_;
};

}  // namespace onceward::brokers
