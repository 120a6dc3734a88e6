// What leaves: the real binary with routes, from staged rows to a queue that somebody else reads.
#include "apps/daemon/relay_post.h"

#include <gmock/gmock.h>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/receiving.h"

namespace onceward::daemon {
namespace {

using fixtures::Process;
using testing::HasSubstr;

class RunningRelay : public Running, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (on_postgres()) {
      auto& database = fixtures::shared_database();
      database.empty();
      store_ = database.url();
      open_postgres({.url = store_})->migrate();
      reader_ = fixtures::read_postgres(store_);
    } else {
      store_ = sqlite_;
      open_sqlite({.path = sqlite_.substr(7)})->migrate();
      reader_ = fixtures::read_sqlite(sqlite_.substr(7));
    }
    reader_->run("CREATE TABLE effect (message text NOT NULL, note text)");
  }
  bool on_postgres() const { return GetParam() == std::string("postgres"); }
  std::string outbox() const { return on_postgres() ? "onceward.outbox" : "onceward_outbox"; }

  std::string routes(const std::string& to) const {
    return "[relay]\nproducer = \"shop\"\n[[route]]\nname = \"out\"\ntypes = [\"paid\"]\nto = \"" + to +
           "\"\norder = \"key\"\n";
  }
  std::string out() const { return "embedded:" + folder_.path() + "/out.queue"; }
  // Plain SQL, as a service in any language would write it.
  void stage(const std::string& id) {
    const std::string payload = on_postgres() ? "'\\x7b7d'" : "x'7b7d'";
    reader_->run("INSERT INTO " + outbox() + " (id, type, key, payload) VALUES ('" + id + "', 'paid', 'k', " + payload +
                 ")");
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

  std::string store_;
  std::unique_ptr<fixtures::Reader> reader_;
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
  const auto process = std::make_unique<Process>(std::vector<std::string>{ONCEWARD_BINARY, "relay", file_});
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
  const auto process = std::make_unique<Process>(std::vector<std::string>{ONCEWARD_BINARY, "relay", file_});
  stage("a");
  const int port = port_of(*process);
  fixtures::await("it says so", [&] { return get(port, "/readyz").status == 503; });
  fixtures::await("and why", [&] { return get(port, "/readyz").body.find("127.0.0.1:1") != std::string::npos; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  EXPECT_EQ(process->output().find("secret-word"), std::string::npos);
  write(store_, insert, routes(out()));
  const auto next = std::make_unique<Process>(std::vector<std::string>{ONCEWARD_BINARY, "relay", file_});
  EXPECT_THAT(received(1), testing::ElementsAre("a"));
}

TEST_P(RunningRelay, WithoutARouteThereIsNothingToRelay) {
  write(store_, insert);
  const fixtures::Ran ran = fixtures::run({ONCEWARD_BINARY, "relay", file_});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.output, HasSubstr("declares no [[route]]"));
}

}  // namespace
}  // namespace onceward::daemon
