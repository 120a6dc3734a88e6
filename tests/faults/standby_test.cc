// A commit that waits for a stopped synchronous standby: in doubt in every way that a server can end the wait, also when
// it is a pooler that tells us.
#include <signal.h>

#include <future>
#include <optional>

#include "tests/faults/pooler.h"
#include "tests/faults/server.h"
#include "tests/faults/world.h"
#include "tests/fixtures/waiting.h"

namespace onceward::faults {
namespace {

using enum Verdict;
using namespace std::chrono_literals;

enum class Route : std::uint8_t { direct, pooled };

class StoppedStandby : public testing::TestWithParam<Route> {
 protected:
  static void SetUpTestSuite() {
    primary = std::make_unique<Server>();
    standby = Server::synchronous_standby_of(*primary);
    pooler = std::make_unique<Pooler>(primary->port());
  }
  static void TearDownTestSuite() {
    pooler.reset();
    standby.reset();
    primary.reset();
  }

  void SetUp() override {
    enrolled_ = prepare_database(primary->url(), declaration_);
    reader_ = primary->read();
    reader_->run("TRUNCATE effect, onceward.inbox, onceward.outbox, onceward.ledger");
    walreceiver_ = standby->pid("walreceiver");  // there is one, or nothing could have been committed
    kill(walreceiver_, SIGSTOP);
  }
  void TearDown() override { kill(walreceiver_, SIGCONT); }

  std::unique_ptr<Store> open(std::chrono::milliseconds lock = 30s) {
    return open_postgres({.url = GetParam() == Route::pooled ? pooler->url() : primary->url(), .lock_deadline = lock});
  }
  // The backend that waits for the standby, once there is one.
  std::string await_sync_rep() {
    std::string pid;
    await("a COMMIT waits for the standby", [&] {
      const TextRows rows = reader_->read("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      if (!rows.empty()) pid = *rows[0][0];
      return !rows.empty();
    });
    return pid;
  }
  // The unit's ending, from a thread of its own: its COMMIT hangs until somebody acts.
  std::future<Commit> commit_elsewhere(const Inbound& inbound) {
    return std::async(std::launch::async, [this, &inbound] {
      auto store = open();
      auto unit = store->begin(enrolled_);
      run_handlers(*unit, inbound, leave_one_of_each);
      return unit->commit();
    });
  }
  void resume() { kill(walreceiver_, SIGCONT); }
  std::int64_t effects(const std::string& id) {
    return reader_->number("SELECT count(*) FROM effect WHERE message = '" + id + "'");
  }

  static std::unique_ptr<Server> primary;
  static std::unique_ptr<Server> standby;
  static std::unique_ptr<Pooler> pooler;  // of the primary
  Declaration declaration_ = consumer();
  Enrolled enrolled_;
  std::unique_ptr<Reader> reader_;
  pid_t walreceiver_ = 0;
};
std::unique_ptr<Server> StoppedStandby::primary;
std::unique_ptr<Server> StoppedStandby::standby;
std::unique_ptr<Pooler> StoppedStandby::pooler;
INSTANTIATE_TEST_SUITE_P(Faults, StoppedStandby, testing::Values(Route::direct, Route::pooled),
                         [](const testing::TestParamInfo<Route>& of) {
                           return of.param == Route::pooled ? "pooled" : "direct";
                         });

TEST_P(StoppedStandby, CancelledWaitIsInDoubtAlthoughTheServerSaysSuccess) {
  const Inbound inbound(declaration_, {{.id = "cancelled"}});
  auto ending = commit_elsewhere(inbound);
  reader_->run("SELECT pg_cancel_backend(" + await_sync_rep() + ")");
  EXPECT_EQ(ending.get(), Commit::in_doubt);
  resume();
  auto store = open();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{duplicate});
  EXPECT_EQ(effects("cancelled"), 1);
}

TEST_P(StoppedStandby, TerminatedBackendIsInDoubtAndItsCommitHasLanded) {
  const Inbound inbound(declaration_, {{.id = "terminated"}});
  auto ending = commit_elsewhere(inbound);
  reader_->run("SELECT pg_terminate_backend(" + await_sync_rep() + ")");
  EXPECT_EQ(ending.get(), Commit::in_doubt);
  resume();
  auto store = open();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{duplicate});
  EXPECT_EQ(effects("terminated"), 1);
}

// A plain SELECT would find no row here, and would be wrong.
TEST_P(StoppedStandby, ClaimingAgainWaitsForTheCommitInDoubtAndNeverSaysFirst) {
  const Inbound inbound(declaration_, {{.id = "waiting"}});
  auto ending = commit_elsewhere(inbound);
  await_sync_rep();
  EXPECT_EQ(effects("waiting"), 0) << "invisible, and yet committed";
  auto hasty = open(200ms);
  EXPECT_EQ(fault_of([&] { apply(*hasty, enrolled_, inbound, leave_one_of_each, {.attempts = 1}); }), FaultCode::busy);
  resume();
  EXPECT_EQ(ending.get(), Commit::committed);
  EXPECT_EQ(verdicts(apply(*hasty, enrolled_, inbound, leave_one_of_each)), Verdicts{duplicate});
  EXPECT_EQ(effects("waiting"), 1);
}

TEST_P(StoppedStandby, StandbyIsRefused) {
  resume();
  std::optional<Pooler> pooled;
  if (GetParam() == Route::pooled) pooled.emplace(standby->port());
  try {
    open_postgres({.url = pooled ? pooled->url() : standby->url()});
    FAIL() << "opened a standby";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::store_read_only);
    EXPECT_NE(std::string_view(fault.what()).find("primary"), std::string_view::npos) << fault.what();
  }
}

TEST_P(StoppedStandby, KilledPrimaryIsInDoubtAndItsCommitHasLanded) {
  const Inbound inbound(declaration_, {{.id = "killed"}});
  auto ending = commit_elsewhere(inbound);
  await_sync_rep();
  reader_.reset();
  primary->kill();
  EXPECT_EQ(ending.get(), Commit::in_doubt);
  resume();
  primary->start();
  reader_ = primary->read();
  auto store = open();
  EXPECT_EQ(verdicts(apply(*store, enrolled_, inbound, leave_one_of_each)), Verdicts{duplicate});
  EXPECT_EQ(effects("killed"), 1);
  expect_all_or_nothing(*reader_, "onceward.");
}

}  // namespace
}  // namespace onceward::faults
