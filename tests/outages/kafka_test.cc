// Kafka under daemons that stop, come and go, are cut off, or whose broker dies.
#include <fmt/format.h>
#include <signal.h>

#include "tests/brokers/kafka_server.h"
#include "tests/fixtures/chance.h"
#include "tests/outages/scene.h"

namespace onceward::outages {
namespace {

using faults::Rule;
using fixtures::await;
using fixtures::KafkaTopic;

class KafkaOutages : public Scene {
 protected:
  void at(const KafkaTopic& topic, const std::string& directory = services_directory("kafka")) {
    at_kafka(topic.group(), directory);
    write(topic.url());
  }
};

// It holds messages, and perhaps a transaction, for longer than its group waits for it. Red if what it commits when it wakes
// up counts a second time, or if its late offsets win over those of who took its place.
TEST_F(KafkaOutages, DaemonIsStoppedPastItsSessionAndWakesUp) {
  const KafkaTopic topic(4);
  ToKafka generator(topic);
  at(topic);
  const auto stopped = start_and_await_work();
  send(generator, 300);
  await("it is at work", [&] { return effects() > 0; });
  stopped->signal(SIGSTOP);
  const auto other = start_and_await_work();
  send(generator, 300);
  std::this_thread::sleep_for(8s);  // the session is of six: that is what is tested
  stopped->signal(SIGCONT);
  send(generator, 100);
  await_effects();
  expect_each_once();
  EXPECT_TRUE(stopped->running()) << stopped->output();
}

// Red if a partition that is taken away takes messages along, or if a newcomer begins behind what was not done.
TEST_F(KafkaOutages, DaemonsComeAndGoUnderLoad) {
  const KafkaTopic topic(6);
  ToKafka generator(topic);
  at(topic);
  fixtures::Chance chance;
  const auto constant = start_and_await_work();
  std::array<Daemon, 2> guests;
  for (int round = 0; round < 8; ++round) {
    Daemon& guest = guests.at(static_cast<std::size_t>(round % 2));
    if (guest) guest->signal(chance.between(0, 1) == 0 ? SIGTERM : SIGKILL);
    if (guest) guest->wait();
    guest = start();
    for (int some = 0; some < 5; ++some) send(generator, 20);
    const std::int64_t before = effects();
    await("somebody works", [&] { return effects() > before || effects() >= sent(); });
  }
  await_effects();
  expect_each_once();
}

// As librdkafka 2 writes them: what is asked, and in which version.
const std::string api_versions("\0\x12\0\x03", 4), join_group("\0\x0b\0\x05", 4), fetch("\0\x01\0\x0b", 4),
    offset_commit("\0\x08\0\x07", 4);

// Red if offsets are committed before effects (lost at the third stage) or if a message is known by its offset (doubled at the
// last two).
TEST_F(KafkaOutages, ConnectionIsCutAtEveryStage) {
  brokers::KafkaServer server(brokers::KafkaServer::Through::proxy);
  const KafkaTopic topic(2, server.brokers());
  ToKafka generator(topic);
  at(topic, server.directory());
  std::vector<Daemon> daemons;
  int fired = 0;
  const auto cut = [&](const Rule& rule, bool of_beginning) {
    server.proxy().set(rule);
    if (of_beginning) daemons.push_back(start());
    ++fired;
    await("the rule was carried out", [&] {
      send(generator, 20);
      return server.proxy().fired() >= fired;
    });
  };
  cut({api_versions, Rule::Act::cut_before}, true);
  cut({join_group, Rule::Act::cut_after}, true);
  cut({fetch, Rule::Act::cut_after}, false);
  cut({offset_commit, Rule::Act::cut_before}, false);
  cut({offset_commit, Rule::Act::cut_after}, false);
  await_effects();
  expect_each_once();
  EXPECT_EQ(server.proxy().fired(), 5);
}

// Red if a producer or a daemon knows only the broker that died, or if what was confirmed was only there.
TEST_F(KafkaOutages, BrokerOfThreeIsKilledUnderLoad) {
  brokers::KafkaServer cluster(brokers::KafkaServer::Through::nothing, 3);
  const KafkaTopic topic(4, cluster.brokers(), 3);
  ToKafka generator(topic);
  at(topic, cluster.directory());
  const auto daemon = start_and_await_work();
  send(generator, 200);
  cluster.kill(2);
  send(generator, 200);
  await_effects();
  expect_each_once();
  EXPECT_TRUE(daemon->running()) << daemon->output();
}

}  // namespace
}  // namespace onceward::outages
