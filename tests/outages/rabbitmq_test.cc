// RabbitMQ between a generator and a daemon whose connection goes at every stage, goes silent, is slow, or whose broker
// dies.
#include <fmt/format.h>
#include <signal.h>

#include "tests/brokers/rabbitmq_server.h"
#include "tests/faults/proxy.h"
#include "tests/outages/rabbitmq_cluster.h"
#include "tests/outages/scene.h"

namespace onceward::outages {
namespace {

using faults::Proxy;
using faults::Rule;
using fixtures::await;
using fixtures::rabbitmq_server;

// As they go over the line.
const std::string protocol_header = "AMQP", log_in = "PLAIN";
const std::string open_host("\0\x0a\0\x28", 4), open_channel("\0\x14\0\x0a", 4), declare("\0\x32\0\x0a", 4),
    limit("\0\x3c\0\x0a", 4), consume("\0\x3c\0\x14", 4), acknowledge("\0\x3c\0\x50", 4);

class RabbitmqOutages : public Scene {
 protected:
  RabbitmqOutages() { at_rabbitmq(queue_.name(), services_directory("rabbitmq")); }
  std::string through_proxy(const std::string& options = "") const {
    return fmt::format("rabbitmq://guest:guest@127.0.0.1:{}/%2F?queue={}&prefetch=40{}", proxy_.port(), queue_.name(),
                       options);
  }
  // Under load, until the rule was carried out.
  void send_until_fired(int times) {
    await("the rule was carried out", [&] {
      send_some(generator_);
      return proxy_.fired() >= times;
    });
  }

  fixtures::RabbitmqQueue queue_;
  Proxy proxy_{rabbitmq_server().hosts.front().port};
  ToRabbitmq generator_{{rabbitmq_server()}, queue_.name()};
};

struct Stage {
  Rule rule;
  bool of_connecting = false;
};

// Red if a message is lost with the connection that it came by (while it delivers) or claimed twice (doubled at the last two).
TEST_F(RabbitmqOutages, ConnectionIsCutAtEveryStage) {
  const std::vector<Stage> stages{
      {{protocol_header, Rule::Act::cut_before}, true},
      {{log_in, Rule::Act::cut_after}, true},
      {{open_host, Rule::Act::cut_after}, true},
      {{open_channel, Rule::Act::cut_after}, true},
      {{declare, Rule::Act::cut_after}, true},
      {{limit, Rule::Act::cut_after}, true},
      {{consume, Rule::Act::cut_before}, true},
      {{consume, Rule::Act::cut_after, 3'000}, true},  // while it delivers
      {{acknowledge, Rule::Act::cut_before}},          // committed, and the broker never hears of it
      {{acknowledge, Rule::Act::cut_after, 200}}};     // the acknowledgement is under way
  write(through_proxy());
  const auto daemon = start_and_await_work();
  int fired = 0;
  for (const Stage& stage : stages) {
    proxy_.set(stage.rule);
    if (stage.of_connecting) proxy_.cut_all();
    send_until_fired(++fired);
    await_effects();  // or the next cut would find who waits for longer after each
  }
  expect_each_once();
  EXPECT_EQ(proxy_.fired(), static_cast<int>(stages.size()));
  EXPECT_TRUE(daemon->running()) << daemon->output();
}

// Red if nobody listens for heartbeats: then what was pushed into the silent connection is never handled.
TEST_F(RabbitmqOutages, ConnectionGoesSilent) {
  write(through_proxy("&heartbeat=1s"));
  const auto daemon = start_and_await_work();
  send(generator_, 50);
  proxy_.set({acknowledge, Rule::Act::stall});
  send_until_fired(1);
  send(generator_, 100);
  await_effects();
  expect_each_once();
}

// Each transaction is longer than two heartbeats, and the line is thin. Red if heartbeats wait for a handler: then each batch is
// delivered again and again, and the connection made anew.
TEST_F(RabbitmqOutages, ConsumerIsSlow) {
  proxy_.throttle(2'000);
  write(through_proxy("&heartbeat=1s"),
        R"("SELECT pg_sleep(3) FROM (SELECT count(message_id) FROM messages) AS slow", )");
  const auto daemon = start_and_await_work();
  send(generator_, 60);
  await_effects();
  expect_each_once();
  EXPECT_EQ(proxy_.accepted(), 2) << "one connection a worker\n" << daemon->output();
}

// The broker has the messages, and its confirms never arrive: they are sent again. Red if an id is another one then.
TEST_F(RabbitmqOutages, ConfirmsAreLost) {
  const std::string file = folder_.path() + "/messages.ndjson";
  std::ofstream(file) << log_lines(100);
  const std::vector<std::string> send{
      ONCEWARD_BINARY, "send",
      fmt::format("rabbitmq://guest:guest@127.0.0.1:{}/%2F?queue={}", proxy_.port(), queue_.name()), file};
  proxy_.set({R"("captureRequestId":"r-99")", Rule::Act::cut_after});
  fixtures::run_well(send);
  EXPECT_EQ(proxy_.fired(), 1);
  await("the broker had them all the same", [&] { return queue_.depth() > 100; });
  confirmed();
  write(through_proxy());
  const auto daemon = start_and_await_work();
  await_effects();
  expect_each_once();
}

class RabbitmqRestarts : public RabbitmqOutages, public testing::WithParamInterface<std::string> {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<brokers::RabbitmqServer>(); }
  static void TearDownTestSuite() { server_.reset(); }

  static std::unique_ptr<brokers::RabbitmqServer> server_;
};
std::unique_ptr<brokers::RabbitmqServer> RabbitmqRestarts::server_;
INSTANTIATE_TEST_SUITE_P(Queue, RabbitmqRestarts, testing::Values("quorum", "classic"),
                         [](const auto& info) { return info.param; });

// Of two daemons with messages in hand one dies with the broker, and the other commits while it is away. Red if a message is
// acknowledged before its commit (lost with the first) or claimed twice (doubled by the second).
TEST_P(RabbitmqRestarts, BrokerRestartsWithUnackedMessages) {
  const RabbitmqConnection connection = server_->connection();
  const std::string queue = fixtures::unique_name();
  fixtures::RabbitmqClient(connection).declare_queue(queue, {.quorum = GetParam() == "quorum"});
  server_->sync();
  at_rabbitmq(queue, server_->directory());
  write(fmt::format("rabbitmq://guest:guest@127.0.0.1:{}/%2F?queue={}&prefetch=40", connection.hosts.front().port,
                    queue));
  const auto dies = start_and_await_work();
  const auto commits = start_and_await_work();
  ToRabbitmq generator({connection}, queue);
  hold_effects();
  send(generator, 200);
  await_held(3);  // of two workers each
  server_->kill();
  dies->signal(SIGKILL);
  dies->wait();
  release_effects();
  await("the other commits", [&] { return effects() > 0; });
  server_->start();
  const auto successor = start();
  send(generator, 100);
  await_effects();
  expect_each_once();
  EXPECT_TRUE(commits->running()) << commits->output();
}

// The node dies that the daemon is connected to and that leads the queue, with messages in the daemon's hands. Red if a daemon
// knows only the node it began with, or if what the dead node had confirmed is gone with it.
TEST_F(RabbitmqOutages, NodeOfThreeIsKilledUnderLoad) {
  brokers::RabbitmqServer& cluster = whole_cluster();
  const auto nodes = cluster.connections();
  const std::vector<RabbitmqConnection> servers{nodes[1], nodes[0], nodes[2]};
  const std::string queue = fixtures::unique_name();
  std::string hosts;
  for (const RabbitmqConnection& server : servers) {
    hosts += fmt::format("{}127.0.0.1:{}", hosts.empty() ? "" : ",", server.hosts.front().port);
  }
  fixtures::RabbitmqClient(servers.front()).declare_queue(queue);  // who declares it leads it
  cluster.sync();
  at_rabbitmq(queue, cluster.directory());
  write(fmt::format("rabbitmq://guest:guest@{}/%2F?queue={}&prefetch=40", hosts, queue));
  const auto daemon = start_and_await_work();
  ToRabbitmq generator(servers, queue);
  hold_effects();
  send(generator, 200);
  await_held(2);
  cluster.kill(2);
  release_effects();
  send(generator, 200);
  await_effects();
  expect_each_once();
  EXPECT_NE(daemon->output().find("the source's connection was lost"), std::string::npos) << daemon->output();
  EXPECT_TRUE(daemon->running()) << daemon->output();
}

// It is there, and comes back by itself: nobody is to make it.
TEST_F(RabbitmqOutages, QueueWhoseNodeIsDownIsAwayAndNotMissing) {
  brokers::RabbitmqServer& cluster = whole_cluster();
  const auto nodes = cluster.connections();
  RabbitmqSourceOptions options;
  options.connection = nodes[0];
  options.queue = fixtures::unique_name();
  options.declare = RabbitmqSourceOptions::Declare::classic;
  fixtures::RabbitmqClient(nodes[1]).declare_queue(options.queue, {.quorum = false});
  cluster.sync();
  open_rabbitmq(options);
  cluster.kill(2);
  const auto opening = [&]() -> std::optional<Fault> {
    try {
      open_rabbitmq(options);
      return std::nullopt;
    } catch (const Fault& fault) {
      return fault;
    }
  };
  std::optional<Fault> fault;
  await("the other nodes have noticed", [&] { return (fault = opening()).has_value(); });
  EXPECT_EQ(fault->fault(), FaultCode::source_unavailable) << fault->what();
  EXPECT_NE(std::string(fault->what()).find("is down or inaccessible"), std::string::npos) << fault->what();
}

}  // namespace
}  // namespace onceward::outages
