// Calls to an external system: the real binary with an endpoint, from messages to the other side's own log.
#include "apps/daemon/dispatch_post.h"

#include <gmock/gmock.h>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/http_server.h"
#include "tests/fixtures/postgres_database.h"

namespace onceward::daemon {
namespace {

using fixtures::Process;
using testing::HasSubstr;

class RunningDispatcher : public RunningOnStore {
 protected:
  std::string ledger() const { return table("ledger"); }

  // A consumer that asks for one call a message.
  void write_calls(const std::string& path, const std::string& more = {}) {
    write(store_, insert,
          "[[endpoint]]\nname = \"gateway\"\nurl = \"" + server_.url(path) +
              "\"\nreference = \"/id\"\npoll = \"50ms\"\nretry = { attempts = 3, first_delay = \"50ms\", "
              "longest_delay = \"100ms\" }\n" +
              more);
    std::ofstream(file_, std::ios::app) << "[[consumer.call]]\nendpoint = \"gateway\"\nkey = \"capture/{message_id}\"\n"
                                        << "body = \"{payload}\"\n";
  }
  std::int64_t in_state(const std::string& state) {
    return reader_->number("SELECT count(*) FROM " + ledger() + " WHERE state = '" + state + "'");
  }
  void expect_each_seen_once(std::size_t calls) {
    const auto requests = server_.requests();
    EXPECT_EQ(requests.size(), calls);
    for (const auto& request : requests) {
      EXPECT_THAT(request.key, testing::StartsWith("capture/"));
      EXPECT_EQ(server_.seen(request.key), 1u) << request.key;
    }
  }

  fixtures::HttpServer server_;
};
INSTANTIATE_TEST_SUITE_P(Stores, RunningDispatcher, testing::Values("postgres", "sqlite"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(RunningDispatcher, MakesEachDeclaredCallOnceHoweverOftenItsMessageComes) {
  write_calls("/ok");
  const auto process = start_and_await_work();
  send(5);
  fixtures::await("all are made", [&] { return in_state("succeeded") == 5; });
  sent_ = 0;
  send(5);  // the same again
  fixtures::await("they came", [&] {
    return samples_in(get(port_of(*process), "/metrics").body)
               .at("onceward_consumer_deliveries_total{consumer=\"captures\",verdict=\"duplicate\"}") == 5;
  });
  expect_each_seen_once(5);
  const auto samples = samples_in(get(port_of(*process), "/metrics").body);
  EXPECT_EQ(samples.at("onceward_ledger_attempts_total{target=\"gateway\",outcome=\"succeeded\"}"), 5);
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
}

TEST_P(RunningDispatcher, LeavesAnUnknownOutcomeToAPersonAndSendsNothingTwice) {
  write_calls("/reset");
  const auto process = start_and_await_work();
  send(3);
  fixtures::await("they are unknown", [&] { return in_state("unknown") == 3; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  const auto next = start_and_await_work();  // which looks at them again
  send(1);
  fixtures::await("the next is unknown", [&] { return in_state("unknown") == 4; });
  expect_each_seen_once(4);
}

TEST_P(RunningDispatcher, AloneMakesWhatOthersStaged) {
  write_calls("/ok", "approval = \"required\"\n");
  const auto process = start_and_await_work();
  send(2);
  fixtures::await("they wait for approval", [&] { return in_state("waiting") == 2; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0) << process->output();
  reader_->run("UPDATE " + ledger() + " SET state = 'planned', due_at = created_at");
  write_calls("/ok");
  const Process alone({ONCEWARD_BINARY, "dispatch", file_});
  fixtures::await("they are made", [&] { return in_state("succeeded") == 2; });
  expect_each_seen_once(2);
}

TEST_P(RunningDispatcher, SaysThatAnEndpointIsAwayAndChargesNobody) {
  write_calls("/ok", "circuit_failures = 2\ncircuit_pause = \"100ms\"\n");
  server_.kill();
  const auto process = start_and_await_work();
  send(3);
  const int port = port_of(*process);
  fixtures::await("it says so", [&] { return get(port, "/readyz").status == 503; });
  EXPECT_THAT(get(port, "/readyz").body, HasSubstr("gateway"));
  server_.start();
  fixtures::await("they are made", [&] { return in_state("succeeded") == 3; });
  fixtures::await("it is ready", [&] { return get(port, "/readyz").status == 200; });
  expect_each_seen_once(3);
}

}  // namespace
}  // namespace onceward::daemon
