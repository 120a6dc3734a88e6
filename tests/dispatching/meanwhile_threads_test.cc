// Calls go on while the store works, on a thread of its own.
#include "tests/dispatching/suite.h"
#include "tests/fixtures/postgres_database.h"

namespace onceward::dispatch {
namespace {

class Meanwhile : public OnEveryStore {
 protected:
  Meanwhile() {
    declaration_.idempotent = true;
    declaration_.key_lifetime = 1h;
    declaration_.concurrency = 4;
  }
};
ONCEWARD_ON_EVERY_STORE(Meanwhile);

TEST_P(Meanwhile, CallsAndTheStoreShareNothing) {
  stage_many(200);
  const auto dispatcher = start();
  for (int i = 0; i < 20; ++i) {
    stage(fmt::format("later {}", i));
    (**dispatcher).wake();
  }
  await("all are made", [&] { return in_state("succeeded") == 220; });
  dispatcher->stop();
  EXPECT_EQ(provider_.calls(), 220u);
}

// On SQLite nobody else can hold a row.
TEST_P(Meanwhile, AnswersAreTakenThoughTheStoreWaitsForARow) {
  if (!postgres()) return;
  provider_.hold(true);
  stage("held");
  const auto dispatcher = start();
  await("it is under way", [&] { return provider_.calls() == 1; });
  under_->reader().run("BEGIN; SELECT 1 FROM onceward.ledger FOR UPDATE");
  await("its lease cannot be renewed", [&] { return waiting_for_locks(under_->reader()) > 0; });
  provider_.hold(false);
  await("its answer is taken", [&] { return dispatcher->tally.succeeded == 1u; });
  under_->reader().run("COMMIT");
  await_state("held", "succeeded");
}

}  // namespace
}  // namespace onceward::dispatch
