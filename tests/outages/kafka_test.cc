// Kafka under daemons that stop, come and go, are slow or cut off, or whose broker dies.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/brokers/kafka_server.h"
#include "tests/fixtures/chance.h"
#include "tests/outages/scene.h"

namespace onceward::outages {
namespace {

using brokers::KafkaServer;
using faults::Rule;
using fixtures::await;
using fixtures::KafkaTopic;

class KafkaOutages : public Scene {
 protected:
  static void TearDownTestSuite() { own_.reset(); }
  // One for all tests that break it, behind a proxy that knows of no test before.
  static KafkaServer& own_server() {
    if (own_) {
      own_->renew_proxy();
    } else {
      own_ = std::make_unique<KafkaServer>(KafkaServer::Through::proxy);
    }
    return *own_;
  }

  void at(const KafkaTopic& topic, const std::string& directory = services_directory("kafka")) {
    at_kafka(topic.group(), directory);
    write(topic.url());
  }
  // Under load, until so many rules were carried out.
  void send_until_fired(Place& generator, int times) {
    await("the rule was carried out", [&] {
      send_some(generator);
      return own_->proxy().fired() >= times;
    });
  }

 private:
  static std::unique_ptr<KafkaServer> own_;
};
std::unique_ptr<KafkaServer> KafkaOutages::own_;

// It is stopped inside of its transactions for longer than its group waits for it, and commits when it wakes up what others
// have been given meanwhile. Red if that counts a second time. Its late offsets, which nobody has overtaken while it holds those
// transactions, are KafkaGroup.StoppedMemberLosesWhatItHoldsAndOverwritesNothing's; here no partition goes back or stays behind
// before something is sent to it again.
TEST_F(KafkaOutages, DaemonIsStoppedPastItsSessionAndWakesUp) {
  const KafkaTopic topic(4);
  ToKafka generator(topic);
  at(topic);
  const auto stopped = start_and_await_work();
  await("both of its workers have partitions", [&] { return topic.members() == 2; });
  hold_effects();
  send(generator, 300);
  await_held(2);
  stopped->signal(SIGSTOP);
  release_effects();
  const auto other = start_and_await_work();
  await("the group goes on without it", [&] { return topic.members() == 2; });
  send(generator, 300);
  const auto before = topic.committed();
  stopped->signal(SIGCONT);
  await("it hears of it", [&] { return stopped->output().find("partitions were lost") != std::string::npos; });
  const auto after = topic.committed();
  for (const auto& [partition, offset] : before) EXPECT_GE(after.at(partition), offset) << partition;
  await_effects();
  expect_each_once();
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

// As librdkafka 2 writes them: what is asked, in which version, and the first half of the question's number.
const std::string api_versions("\0\x12\0\x03\0\0", 6), metadata("\0\x03\0\x04\0\0", 6),
    find_coordinator("\0\x0a\0\x02\0\0", 6), join_group("\0\x0b\0\x05\0\0", 6), sync_group("\0\x0e\0\x03\0\0", 6),
    offset_fetch("\0\x09\0\x07\0\0", 6), heartbeat("\0\x0c\0\x03\0\0", 6), fetch("\0\x01\0\x0b\0\0", 6),
    offset_commit("\0\x08\0\x07\0\0", 6);

// While a newcomer joins one that works. Red if a message is lost with the connection that it came by (at the fetch) or known by
// its offset (doubled at the last two).
TEST_F(KafkaOutages, ConnectionIsCutAtEveryStage) {
  using enum Rule::Act;
  std::vector<Rule> rules;
  for (const auto& [asked, act] : std::vector<std::pair<std::string, Rule::Act>>{{api_versions, cut_before},
                                                                                 {metadata, cut_after},
                                                                                 {find_coordinator, cut_after},
                                                                                 {join_group, cut_after},
                                                                                 {sync_group, cut_after},
                                                                                 {offset_fetch, cut_after},
                                                                                 {heartbeat, cut_after},
                                                                                 {fetch, cut_after},
                                                                                 {offset_commit, cut_before},
                                                                                 {offset_commit, cut_after}}) {
    rules.push_back({.needle = asked, .act = act, .beside = "daemon"});
  }
  KafkaServer& server = own_server();
  const KafkaTopic topic(4, server.brokers());
  ToKafka generator(topic);
  at_kafka(topic.group(), server.directory());
  write(topic.url() + "&client.id=daemon");
  const auto constant = start_and_await_work();
  server.proxy().set(rules);
  const auto newcomer = start();
  for (int fired = 1; fired <= static_cast<int>(rules.size()); ++fired) send_until_fired(generator, fired);
  await_effects();
  expect_each_once();
  EXPECT_EQ(server.proxy().fired(), static_cast<int>(rules.size()));
  EXPECT_TRUE(constant->running()) << constant->output();
  EXPECT_TRUE(newcomer->running()) << newcomer->output();
}

// First where messages come from, then where offsets go to. Red if nobody counts the time that an answer takes: then what is
// asked for on a silent connection is never fetched, and what was done is never committed.
TEST_F(KafkaOutages, ConnectionGoesSilent) {
  KafkaServer& server = own_server();
  const KafkaTopic topic(2, server.brokers());
  ToKafka generator(topic);
  at_kafka(topic.group(), server.directory());
  write(topic.url() + "&socket.timeout.ms=2000&client.id=daemon");
  const auto daemon = start_and_await_work();
  int fired = 0;
  for (const std::string& asked : {fetch, offset_commit}) {
    server.proxy().set({.needle = asked, .act = Rule::Act::stall, .beside = "daemon"});
    send_until_fired(generator, ++fired);
  }
  send(generator, 100);
  await_effects();
  expect_each_once();
  EXPECT_TRUE(daemon->running()) << daemon->output();
}

// The first transactions are longer than the group has patience with a member that does not poll. Red if polling waits for a
// handler: then the group goes on without it, and what it holds is delivered again.
TEST_F(KafkaOutages, ConsumerIsSlow) {
  const KafkaTopic topic(2);
  ToKafka generator(topic);
  at_kafka(topic.group(), services_directory("kafka"));
  write(topic.url() + "&max.poll.interval.ms=6000&revoke_deadline=5s",
        R"("SELECT pg_sleep(CASE WHEN EXISTS (SELECT FROM capture) THEN 0 ELSE 7 END) FROM )"
        R"((SELECT count(message_id) FROM messages) AS slow", )");
  const auto daemon = start_and_await_work();
  await("both workers have a partition", [&] { return topic.members() == 2; });
  send(generator, 60);
  await_effects();
  expect_each_once();
  const std::string said = daemon->output();
  EXPECT_EQ(said.find("max.poll.interval.ms"), said.npos) << said;
  EXPECT_EQ(said.find("come again elsewhere"), said.npos) << said;
}

// The broker has the messages, and its confirms never arrive: they are sent again. Red if an id is another one then.
TEST_F(KafkaOutages, ConfirmsAreLost) {
  KafkaServer& server = own_server();
  const KafkaTopic topic(1, server.brokers());
  const std::string file = folder_.path() + "/messages.ndjson";
  std::ofstream(file) << log_lines(100);
  const std::vector<std::string> send{
      ONCEWARD_BINARY, "send", fmt::format("kafka://{}/{}?confirm_deadline=3s", server.brokers(), topic.name()), file};
  // A connection that is cut is made again, and Kafka's own numbers then tell that the broker has them.
  server.proxy().set({R"("captureRequestId":"r-99")", Rule::Act::stall});
  fixtures::run_well(send);
  EXPECT_EQ(server.proxy().fired(), 1);
  EXPECT_GT(topic.read().size(), 100u) << "the broker had them all the same";
  confirmed();
  at(topic, server.directory());
  const auto daemon = start_and_await_work();
  await_effects();
  expect_each_once();
}

// Of two daemons with messages in hand one dies with the broker, and the other commits while it is away. Red if offsets are
// committed before effects (lost with the first) or effects depend on whether they are (doubled by the second).
TEST_F(KafkaOutages, BrokerRestartsWithUnackedMessages) {
  KafkaServer& server = own_server();
  const KafkaTopic topic(4, server.brokers());
  ToKafka generator(topic);
  at(topic, server.directory());
  const auto dies = start_and_await_work();
  const auto commits = start_and_await_work();
  hold_effects();
  send(generator, 200);
  await_held(3);  // of two workers each
  server.kill();
  dies->signal(SIGKILL);
  dies->wait();
  release_effects();
  await("the other commits", [&] { return effects() > 0; });
  server.start();
  const auto successor = start();
  send(generator, 100);
  await_effects();
  expect_each_once();
  EXPECT_TRUE(commits->running()) << commits->output();
}

// With messages in the daemon's hands a broker dies that leads one of its partitions at least. Red if a producer or a daemon
// knows only the broker that died, or if what was confirmed was only there.
TEST_F(KafkaOutages, BrokerOfThreeIsKilledUnderLoad) {
  KafkaServer cluster(KafkaServer::Through::nothing, 3);
  const KafkaTopic topic(4, cluster.brokers(), 3);
  ToKafka generator(topic);
  at(topic, cluster.directory());
  const auto daemon = start_and_await_work();
  await("both of its workers have partitions", [&] { return topic.members() == 2; });
  hold_effects();
  send(generator, 200);
  await_held(2);
  cluster.kill(2);
  await("it is missed", [&] { return daemon->output().find("cannot be reached") != std::string::npos; });
  release_effects();
  send(generator, 200);
  await_effects();
  expect_each_once();
  EXPECT_TRUE(daemon->running()) << daemon->output();
}

class KafkaOrderOutages : public KafkaOutages {
 protected:
  // Its first so many tries fail, whoever makes them.
  void fail(const std::string& message, int tries) {
    reader_->run(fmt::format(
        "ALTER TABLE capture ADD COLUMN place bigserial; CREATE SEQUENCE tries; CREATE FUNCTION try(message text) RETURNS "
        "int LANGUAGE plpgsql AS $$BEGIN IF message = '{}' AND nextval('tries') <= {} THEN RAISE 'not yet'; END IF; "
        "RETURN 0; END$$",
        message, tries));
  }
  void await_tries(int count) {
    await("it was tried",
          [&] { return reader_->number("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM tries") >= count; });
  }
  // Of those messages of a partition, each once, in the order in which they stand there and had their effects.
  using Orders = std::map<int, std::vector<std::string>>;
  static Orders order_of_sending(const KafkaTopic& topic) {
    Orders orders;
    for (const fixtures::KafkaRecord& record : topic.read()) {
      const std::string id = nlohmann::json::parse(*record.value).at("messageId");
      auto& order = orders[record.partition];
      if (std::ranges::find(order, id) == order.end()) order.push_back(id);
    }
    return orders;
  }
  Orders order_of_effects(const Orders& sent) {
    Orders orders;
    for (const auto& row : reader_->read("SELECT message_id FROM capture ORDER BY place")) {
      for (const auto& [partition, ids] : sent) {
        if (std::ranges::find(ids, row[0].value()) != ids.end()) orders[partition].push_back(row[0].value());
      }
    }
    return orders;
  }
};

// Its owner is stopped past its session while a message waits for its next attempt and holds back the rest, and wakes up while
// the next owner waits for the same one. Red if either lets others pass.
TEST_F(KafkaOrderOutages, PartitionThatMovesWhileAMessageIsTriedAgainKeepsItsOrder) {
  const KafkaTopic topic(2);
  ToKafka generator(topic);
  at_kafka(topic.group(), services_directory("kafka"));
  write(topic.url(), R"("SELECT try(message_id) FROM messages", )", "order = \"partition\"\n");
  fail("m-7", 3);
  const auto stopped = start_and_await_work();
  await("both of its workers have a partition", [&] { return topic.members() == 2; });
  send(generator, 100);
  await_tries(1);
  stopped->signal(SIGSTOP);
  const auto next = start_and_await_work();
  await_tries(2);
  stopped->signal(SIGCONT);
  await("it hears of it", [&] { return stopped->output().find("partitions were lost") != std::string::npos; });
  send(generator, 100);
  await_effects();
  expect_each_once();
  const Orders sent = order_of_sending(topic);
  EXPECT_EQ(order_of_effects(sent), sent);
  EXPECT_TRUE(stopped->running()) << stopped->output();
}

}  // namespace
}  // namespace onceward::outages
