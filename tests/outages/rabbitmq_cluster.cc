#include "tests/outages/rabbitmq_cluster.h"

#include <gtest/gtest.h>

#include <memory>

namespace onceward::outages {
namespace {

class Cluster final : public testing::Environment {
 public:
  void TearDown() override { server_.reset(); }
  brokers::RabbitmqServer& whole() {
    if (server_) {
      server_->start();
    } else {
      server_ = std::make_unique<brokers::RabbitmqServer>(std::vector<std::string>(), 3);
    }
    return *server_;
  }

 private:
  std::unique_ptr<brokers::RabbitmqServer> server_;
};

Cluster* const three_nodes = [] {
  auto* const made = new Cluster;  // GoogleTest deletes it
  testing::AddGlobalTestEnvironment(made);
  return made;
}();

}  // namespace

brokers::RabbitmqServer& whole_cluster() { return three_nodes->whole(); }

}  // namespace onceward::outages
