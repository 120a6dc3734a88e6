// What a turn costs PostgreSQL, by its own counters.
#include "tests/dispatching/suite.h"

namespace onceward::dispatch {
namespace {

class DispatchReads : public OnEveryStore {
 protected:
  DispatchReads() {
    declaration_.idempotent = true;
    declaration_.key_lifetime = 1h;
    declaration_.lease = 1min;  // no machine is so slow that one ends here
  }
  std::int64_t counted(const std::string& what) {
    return under_->reader().number("SELECT sum(" + what +
                                   ") FROM pg_stat_all_tables WHERE relname IN ('ledger', 'ledger_attempt')");
  }
};
ONCEWARD_ON_EVERY_STORE(DispatchReads);

// A few numbers among some thousand rows: PostgreSQL would read all of these, for each of a turn's statements.
TEST_P(DispatchReads, ATurnFindsItsRowsByTheirIndexes) {
  if (!postgres()) return;  // SQLite always does
  constexpr int calls = 1'000;
  const std::int64_t read = counted("seq_tup_read"), changed = counted("n_tup_upd");
  stage_many(calls);
  const auto dispatcher = start();
  await("all are made", [&] { return provider_.calls() >= calls; });
  dispatcher->stop();
  await("the counts of a connection that has ended", [&] { return counted("n_tup_upd") >= changed + 3 * calls; });
  EXPECT_LT(counted("seq_tup_read"), read + 3 * calls);
}

}  // namespace
}  // namespace onceward::dispatch
