// Quorum queues that have lost their majority: the broker is there and takes messages, and confirms none.
#include "tests/outages/rabbitmq_cluster.h"
#include "tests/outages/relay_scene.h"

namespace onceward::outages {
namespace {

using fixtures::RabbitmqClient;
using fixtures::RabbitmqQueue;

class QuorumRelayOutages : public RelayOutages {
 protected:
  // A queue whose leader is the node that declares it.
  std::string declare_at(int node) {
    const std::string queue = fixtures::unique_name();
    RabbitmqClient(servers_.at(static_cast<std::size_t>(node - 1))).declare_queue(queue);
    return queue;
  }
  void stage_some(int times, int count) {
    for (int time = 0; time < times; ++time) {
      for (const auto& [type, queue] : queues_) stage(type, count);
      stage("shipped", count);
    }
  }
  // Rows that have not left, or nobody has noted it.
  std::int64_t staying(const std::string& where) {
    return reader_->number(fmt::format(
        "SELECT (SELECT count(*) FROM onceward.outbox_pending WHERE {0}) + (SELECT count(*) FROM onceward.outbox_waiting "
        "WHERE {0})",
        where));
  }

  brokers::RabbitmqServer& cluster_ = whole_cluster();
  const std::vector<RabbitmqConnection> servers_ = cluster_.connections();
  // One loses its leader, and the other's leader loses those who follow it.
  const std::map<std::string, std::string> queues_{{"paid", declare_at(2)}, {"refunded", declare_at(1)}};
  RabbitmqQueue healthy_;
};

// Two nodes of three die under load. Red if what was sent is called published though nobody has confirmed it, if an outage is
// charged, or if it holds back what goes elsewhere.
TEST_F(QuorumRelayOutages, NothingIsCalledPublishedWithoutAMajorityAndOthersLeave) {
  cluster_.sync();
  write_routes({{"paid", queue_url(servers_, queues_.at("paid"))},
                {"refunded", queue_url(servers_, queues_.at("refunded"))},
                {"shipped", queue_url(fixtures::rabbitmq_server(), healthy_.name())}});
  const Relay relay = start_relay();
  stage_some(1, 100);
  await_all_left();
  stage_some(5, 40);
  cluster_.kill(2);
  cluster_.kill(3);
  const int first = staged_.at("paid");
  stage_some(5, 20);
  fixtures::await("what goes elsewhere has left", [&] { return staying("type = 'shipped'") == 0; });
  EXPECT_GE(healthy_.depth(), 400u);
  EXPECT_EQ(staying(fmt::format("type <> 'shipped' AND split_part(id, '-', 2)::int >= {}", first)), 200);
  EXPECT_EQ(waiting("attempts > 0 OR state = 'aside'"), 0);
  EXPECT_EQ(daemon::get(port_of(*relay), "/readyz").status, 503);
  cluster_.start();
  fixtures::await(
      "all has left", [&] { return staying("true") == 0; }, std::chrono::minutes(3));  // it is tried ever more seldom
  EXPECT_EQ(receipts(*relay, "refused"), 0);
  RabbitmqClient client(servers_.front());
  for (const auto& [type, queue] : queues_) expect_all_of(type, taken_from(client, queue));
  expect_all_of("shipped", taken_from(healthy_.client(), healthy_.name()));
  EXPECT_TRUE(relay->running()) << relay->output();
}

}  // namespace
}  // namespace onceward::outages
