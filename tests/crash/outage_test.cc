// The database away under a worker: it holds what it has, says why, and goes on; nothing is lost, nothing twice, and no
// message is charged for it. Here the workers are threads of the test, so that they can be asked.
#include <gmock/gmock.h>

#include "onceward/adapter/memory.h"
#include "onceward/adapter/postgres.h"
#include "tests/crash/scene.h"
#include "tests/crash/worked.h"
#include "tests/faults/proxy.h"
#include "tests/faults/server.h"
#include "tests/faults/world.h"

namespace onceward::crash {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

using StopServer = void (faults::Server::*)();

class RestartedServer : public testing::TestWithParam<StopServer> {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<faults::Server>(); }
  static void TearDownTestSuite() { server.reset(); }

  RestartedServer() {
    faults::prepare_database(server->url(), hurried_consumer());
    server->read()->run("TRUNCATE effect, onceward.inbox, onceward.outbox, onceward.ledger");
  }
  void push(int count) {
    std::vector<Envelope> envelopes;
    for (int i = 0; i < count; ++i) envelopes.push_back(fixtures::envelope_of({.id = std::to_string(pushed_++)}));
    queue_.push(envelopes);
  }

  static std::unique_ptr<faults::Server> server;
  MemoryQueue queue_;
  int pushed_ = 0;
};
std::unique_ptr<faults::Server> RestartedServer::server;
INSTANTIATE_TEST_SUITE_P(Shutdown, RestartedServer, testing::Values(&faults::Server::stop, &faults::Server::stop_now),
                         [](const auto& of) { return of.index == 0 ? "fast" : "immediate"; });

TEST_P(RestartedServer, UnderLoadLosesNothingAppliesOnceAndChargesNobody) {
  push(3000);
  const auto store = open_postgres({.url = server->url()});
  const auto source = queue_.open();
  const Worked worker(faults::leave_one_of_each, *store, *source);
  fixtures::await("it works", [&] { return worker.tally().processed > 0; });
  (*server.*GetParam())();
  fixtures::await("it says that it waits", [&] { return !worker.trouble().empty(); });
  // Gone, or on its way: whichever answer was the last.
  EXPECT_THAT(worker.trouble(), HasSubstr("the server is"));
  const auto before = worker.tally().processed.load();
  EXPECT_LT(before, 3000u) << "it was not under load";
  push(100);
  EXPECT_LE(worker.tally().received, before + 3 * hurried_consumer().batch) << "it goes on receiving";
  server->start();
  fixtures::await("it goes on", [&] { return worker.tally().processed > before; });
  EXPECT_EQ(worker.trouble(), "");
  fixtures::await("everything is done", [&] { return queue_.depth() == QueueDepth{0, 0}; });

  const auto reader = server->read();
  EXPECT_EQ(reader->number("SELECT count(*) FROM effect"), pushed_);
  faults::expect_all_or_nothing(*reader, "onceward.");
  EXPECT_EQ(reader->number("SELECT count(*) FROM onceward.attempt"), 0);
  EXPECT_EQ(reader->number("SELECT count(*) FROM onceward.quarantine"), 0);
  EXPECT_EQ(worker.tally().outages, 1u);
}

class LockedFile : public Scene {};
INSTANTIATE_TEST_SUITE_P(Store, LockedFile, testing::Values(fixtures::backends().front()),
                         [](const auto& of) { return of.param.name; });

TEST_P(LockedFile, PastTheDeadlineIsWaitedForAndChargesNobody) {
  send({"good", "good"});
  const auto holder = start({{"point", number_of(Point::claimed)}});
  await_at(*holder, Point::claimed);
  const auto store = under_->open({.lock = 20ms});
  const auto source = open_embedded({.path = queue_path_});
  const Worked worker(apply_whole, *store, *source);
  send({"good", "good", "good"});
  fixtures::await("it says that it waits", [&] { return !worker.trouble().empty(); });
  EXPECT_THAT(worker.trouble(), HasSubstr("lock"));
  EXPECT_EQ(under_->effects(), 0);
  kill(*holder);
  fixtures::await("it goes on", [&] { return worker.tally().processed == 3; });
  EXPECT_EQ(worker.trouble(), "");
  EXPECT_EQ(under_->rows_in("attempt"), 0);
  give_back_deliveries();
  fixtures::await("everything is done", [&] { return at_rest(); });
  expect_each_once();
}

class DoubtfulCommit : public Scene {};
INSTANTIATE_TEST_SUITE_P(Store, DoubtfulCommit, testing::Values(stores().back()),
                         [](const auto& of) { return of.param.name; });

TEST_P(DoubtfulCommit, OfAWorkerIsResolvedByClaimingAgain) {
  using Act = faults::Rule::Act;
  faults::Proxy proxy(faults::port_of(under_->address()));
  const std::vector<std::string> several(3, "good"), alone(1, "good");
  for (const auto& [act, words] : {std::pair(Act::cut_before, several), std::pair(Act::cut_after, several),
                                   std::pair(Act::cut_before, alone), std::pair(Act::cut_after, alone)}) {
    send(words);
    const std::string last = std::to_string(sent_.size() - 1);
    std::atomic<bool> cut = false;
    const MessageHandler handler = [&, cutting = act](const Envelope& message, Transaction& transaction) {
      const Outcome outcome = apply_whole(message, transaction);
      // All that is still to be sent is what was staged, and the COMMIT.
      if (message.message_id().text() == last && !cut.exchange(true)) {
        proxy.set({.needle = std::string(1, '\0'), .act = cutting});
      }
      return outcome;
    };
    const auto store = open_postgres({.url = proxy.instead_of(under_->address())});
    const auto source = open_embedded({.path = queue_path_});
    const Worked worker(handler, *store, *source);
    fixtures::await("everything is done", [&] { return at_rest(); });
    expect_each_once();
    EXPECT_TRUE(cut);
    EXPECT_EQ(worker.tally().in_doubt, 1u);
    EXPECT_EQ(under_->rows_in("attempt"), 0);
  }
}

}  // namespace
}  // namespace onceward::crash
