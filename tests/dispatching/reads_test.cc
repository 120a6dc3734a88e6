// What a turn costs PostgreSQL, by its own counters.
#include "tests/dispatching/suite.h"

namespace onceward::dispatch {
namespace {

class DispatchReads : public OnEveryStore {
 protected:
  DispatchReads() {
    declaration_.idempotent = true;
    declaration_.key_lifetime = 1h;
  }
  std::int64_t counted(const std::string& what) {
    return under_->reader().number("SELECT sum(" + what +
                                   ") FROM pg_stat_all_tables WHERE relname IN ('ledger', 'ledger_attempt')");
  }
  // A connection tells its counts when it ends, else after up to ten seconds at rest; and a pooler ends none.
  void end_connections() {
    under_->reader().read(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND "
        "backend_type = 'client backend' AND pid <> pg_backend_pid()");
  }
  void make(int calls) {
    const std::size_t before = provider_.calls();
    stage_many(calls);
    const auto dispatcher = start();
    await("all are made", [&] { return provider_.calls() >= before + static_cast<std::size_t>(calls); });
    dispatcher->stop();
  }
  void run_on_both(const std::string& statement) {
    for (const char* table : {"ledger_attempt", "ledger"}) {
      under_->reader().run(fmt::format(fmt::runtime(statement), under_->table(table)));
    }
  }
};
ONCEWARD_ON_EVERY_STORE(DispatchReads);

constexpr int calls = 3'000;
constexpr int changes_of_a_call = 3;  // it is marked, it is answered, its attempt is ended

// A few numbers among some thousand rows: PostgreSQL would read all of these, for each of a turn's statements.
TEST_P(DispatchReads, ATurnFindsItsRowsByTheirIndexes) {
  if (!postgres()) return;  // SQLite always does
  const std::int64_t read = counted("seq_tup_read"), changed = counted("n_tup_upd");
  make(calls);
  end_connections();
  EXPECT_GE(counted("n_tup_upd"), changed + changes_of_a_call * calls);
  EXPECT_LT(counted("seq_tup_read"), read + 3 * calls);
}

// PostgreSQL counts rows now and then, and an empty ledger is the usual one. What it takes for a single row it would go through
// again and again, also by an index.
TEST_P(DispatchReads, ALedgerThatWasNearlyEmptyWhenLastCountedIsNotReadThroughByEachTurn) {
  if (!postgres()) return;  // SQLite does not count by itself
  make(300);
  run_on_both("DELETE FROM {0} WHERE key <> (SELECT key FROM {0} ORDER BY key LIMIT 1)");
  run_on_both("VACUUM ANALYZE {0}");
  run_on_both("DELETE FROM {0}");
  end_connections();
  store_ = under_->open();
  const std::int64_t fetched = counted("idx_tup_fetch"), changed = counted("n_tup_upd");
  make(calls);
  end_connections();
  EXPECT_GE(counted("n_tup_upd"), changed + changes_of_a_call * calls);
  EXPECT_LT(counted("idx_tup_fetch"), fetched + 20 * calls);  // eleven of each, and what is looked at twice
}

}  // namespace
}  // namespace onceward::dispatch
