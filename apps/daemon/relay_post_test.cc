// What leaves: the real binary with routes, from staged rows to a queue that somebody else reads.
#include "apps/daemon/relay_post.h"

#include <gmock/gmock.h>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/rabbitmq.h"
#include "tests/fixtures/receiving.h"

namespace onceward::daemon {
namespace {

using fixtures::Process;
using testing::HasSubstr;

class RunningRelay : public RunningOnStore {
 protected:
  std::string outbox() const { return table("outbox"); }

  std::string routes(const std::string& to) const {
    return "[relay]\nproducer = \"shop\"\n[[route]]\nname = \"out\"\ntypes = [\"paid\"]\nto = \"" + to +
           "\"\norder = \"key\"\n";
  }
  std::string out() const { return "embedded:" + folder_.path() + "/out.queue"; }
  // Plain SQL, as a service in any language would write it.
  void stage(const std::string& id, const std::string& type = "paid") {
    const std::string payload = on_postgres() ? "'\\x7b7d'" : "x'7b7d'";
    reader_->run("INSERT INTO " + outbox() + " (id, type, key, payload) VALUES ('" + id + "', '" + type + "', 'k', " +
                 payload + ")");
  }
  // Returns when the relays wait to be told, and have looked once more since they said so.
  void await_idle() {
    fixtures::await("it is idle", [&] {
      return reader_->value(
                 "SELECT (SELECT idle FROM onceward.relay_idle) AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = "
                 "current_database() AND pid <> pg_backend_pid() AND state_change > clock_timestamp() - interval "
                 "'300 ms')") == "t";
    });
  }
  std::unique_ptr<Process> start_relay() const {
    return std::make_unique<Process>(std::vector<std::string>{ONCEWARD_BINARY, "relay", file_});
  }
  std::vector<std::string> received(std::size_t count) {
    const auto source = open_embedded({.path = folder_.path() + "/out.queue"});
    std::vector<std::string> ids;
    const auto deliveries = fixtures::receive_all(*source, count);
    for (const Delivery& delivery : deliveries) {
      EXPECT_EQ(delivery.envelope.producer().text(), "shop");
      EXPECT_EQ(delivery.envelope.event_type().text(), "paid");
      EXPECT_EQ(delivery.envelope.payload(), "{}");
      ids.emplace_back(delivery.envelope.message_id().text());
    }
    fixtures::settle(*source, deliveries);
    return ids;
  }
};
INSTANTIATE_TEST_SUITE_P(On, RunningRelay, testing::Values("sqlite", "postgres"),
                         [](const auto& of) { return of.param; });

TEST_P(RunningRelay, WhatAConsumerStagesLeavesAfterItsCommit) {
  const std::string payload = on_postgres() ? "'{}'::bytea" : "CAST('{}' AS BLOB)";
  write(store_,
        "INSERT INTO " + outbox() + " (id, type, key, payload) SELECT 'out-' || message_id, 'paid', 'k', " + payload +
            " FROM messages ORDER BY message_id",
        routes(out()));
  const auto process = start_and_await_work();
  send(5);
  EXPECT_THAT(received(5), testing::ElementsAre("out-0", "out-1", "out-2", "out-3", "out-4"));
  fixtures::await("it is ready", [&] { return get(port_of(*process), "/readyz").status == 200; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
}

TEST_P(RunningRelay, AloneItPublishesWhatOthersStage) {
  write(store_, insert, routes(out()));
  const auto process = start_relay();
  for (const char* id : {"a", "b", "c"}) {
    stage(id);
    EXPECT_THAT(received(1), testing::ElementsAre(id));
  }
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  EXPECT_FALSE(logged(*process, "working")) << "no consumer";
}

TEST_P(RunningRelay, ABrokerThatIsAwayIsSaidAndNothingIsLost) {
  write(store_, insert, routes("rabbitmq://guest:secret-word@127.0.0.1:1/%2F?queue=q"));
  const auto process = start_relay();
  stage("a");
  const int port = port_of(*process);
  fixtures::await("it says so", [&] { return get(port, "/readyz").status == 503; });
  fixtures::await("and why", [&] { return get(port, "/readyz").body.find("127.0.0.1:1") != std::string::npos; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  EXPECT_EQ(process->output().find("secret-word"), std::string::npos);
  write(store_, insert, routes(out()));
  const auto next = start_relay();
  EXPECT_THAT(received(1), testing::ElementsAre("a"));
}

// M3-3.
TEST_P(RunningRelay, CountsReceipts) {
  const int port_of_rabbitmq = fixtures::rabbitmq_server().hosts.front().port;
  write(store_, insert,
        routes(out()) + "[[route]]\nname = \"nowhere\"\ntypes = [\"lost\"]\nto = \"rabbitmq://guest:guest@127.0.0.1:" +
            std::to_string(port_of_rabbitmq) + "/%2F?exchange=amq.direct&routing_key=" + fixtures::unique_name() +
            "\"\n[relay.retry]\nattempts = 2\nfirst_delay = \"10ms\"\nlongest_delay = \"10ms\"\n");
  const auto process = start_relay();
  for (const char* id : {"a", "b", "c"}) stage(id);
  stage("d", "lost");
  const int port = port_of(*process);
  const auto counted = [&](const std::string& name) { return samples_in(get(port, "/metrics").body).at(name); };
  const auto attempts = [&](const std::string& receipt) {
    return counted("onceward_outbox_publish_attempts_total{receipt=\"" + receipt + "\"}");
  };
  fixtures::await("the one that nobody takes", [&] {
    return counted("onceward_outbox_quarantine_entered_total") == 1 && attempts("confirmed") == 3;
  });
  EXPECT_EQ(attempts("refused"), 2);
  EXPECT_EQ(attempts("put_off"), 0);
  EXPECT_EQ(attempts("in_doubt"), 0);
  EXPECT_EQ(counted("onceward_relay_fenced_total"), 0);
  EXPECT_EQ(counted("onceward_relay_outages_total{side=\"store\"}"), 0);
  EXPECT_EQ(counted("onceward_relay_outages_total{side=\"broker\"}"), 0);
}

// One that falls idle is told by the first who stages. SQLite cannot tell: there it looks.
TEST_P(RunningRelay, NotifiedItNeedNotLook) {
  const std::string poll = on_postgres() ? "1m" : "100ms";
  std::string patient = routes(out());
  patient.insert(patient.find('\n') + 1, "lease = \"10m\"\npoll = \"" + poll + "\"\n");
  write(store_, insert, patient);
  const auto process = start_relay();
  for (const char* id : {"a", "b", "c"}) {
    if (on_postgres()) await_idle();
    const auto staged = std::chrono::steady_clock::now();
    stage(id);
    EXPECT_THAT(received(1), testing::ElementsAre(id));
    EXPECT_LT(std::chrono::steady_clock::now() - staged, std::chrono::seconds(15));  // of a minute
  }
}

TEST_P(RunningRelay, WithoutARouteThereIsNothingToRelay) {
  write(store_, insert);
  const fixtures::Ran ran = fixtures::run({ONCEWARD_BINARY, "relay", file_});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.output, HasSubstr("declares no [[route]]"));
}

}  // namespace
}  // namespace onceward::daemon
