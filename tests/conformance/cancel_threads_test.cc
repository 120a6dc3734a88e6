// Ending a statement from another thread.
#include <atomic>
#include <future>
#include <thread>

#include "tests/conformance/suite.h"
#include "tests/fixtures/waiting.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;

class Cancelling : public OnEveryStore {
 protected:
  // Runs for longer than any test.
  std::string endless() const {
    return GetParam().capabilities.typed_columns
               ? "SELECT count(*) FROM pg_sleep(600)"
               : "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  }
};
ONCEWARD_ON_EVERY_STORE(Cancelling);

TEST_P(Cancelling, EndsTheStatementThatRuns) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  auto running = std::async(std::launch::async, [&] {
    try {
      unit->on(0).query(endless());
    } catch (const Fault& thrown) {
      return thrown;
    }
    throw std::logic_error("it ended by itself");
  });
  // Whether it runs yet cannot be seen on every store; before that, cancelling is harmless.
  await("the statement was ended", [&] {
    store_->cancel();
    return running.wait_for(1ms) == std::future_status::ready;
  });
  const Fault fault = running.get();
  EXPECT_EQ(unit->culprit(), 0u);
  EXPECT_EQ(unit->commit(), Commit::failed);
  unit.reset();
  EXPECT_EQ(fault.fault(), FaultCode::timed_out);
  EXPECT_EQ(fault.poisons(), Poisons::transaction);
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(verdicts(apply(inbound)), Verdicts{Verdict::first});
}

TEST_P(Cancelling, IsHarmlessWhenNothingRuns) {
  const Inbound inbound(declaration_, {Message{}});
  store_->cancel();
  auto unit = begin();
  store_->cancel();
  unit->claim(inbound.claimants());
  store_->cancel();
  insert_effect(inbound.envelope(0), unit->on(0));
  EXPECT_EQ(unit->on(0).query("SELECT 1").size(), 1u);
  store_->cancel();
  ASSERT_EQ(unit->commit(), Commit::committed);
  store_->cancel();
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Cancelling, FromAnotherThreadAtAnyMomentLosesNothing) {
  std::atomic<bool> over = false;
  std::jthread other([&] {
    while (!over) store_->cancel();
  });
  int committed = 0;
  for (int round = 0; round < 30; ++round) {
    const Inbound inbound(declaration_, {{.id = std::to_string(round)}});
    try {
      auto unit = begin();
      run_handlers(*unit, inbound);
      if (unit->commit() == Commit::committed) ++committed;
    } catch (const Fault& fault) {
      EXPECT_TRUE(fault.fault() == FaultCode::timed_out || fault.transient()) << fault.what();
    }
  }
  over = true;
  other.join();
  EXPECT_EQ(under_->effects(), committed);
}

class CancellingOnAServer : public Cancelling {};
INSTANTIATE_TEST_SUITE_P(Store, CancellingOnAServer,
                         testing::ValuesIn(fixtures::backends_that(&Capabilities::typed_columns)), backend_name);

TEST_P(CancellingOnAServer, WorksOnTheConnectionThatReplacedALostOne) {
  for (int round = 0; round < 3; ++round) {
    auto unit = begin();
    EXPECT_EQ(fault_of([&] { unit->whole().query("SELECT pg_terminate_backend(pg_backend_pid())"); }),
              FaultCode::store_unavailable);
  }
  auto unit = begin();
  auto running = std::async(std::launch::async, [&] { return fault_of([&] { unit->whole().query(endless()); }); });
  await("the statement was ended", [&] {
    store_->cancel();
    return running.wait_for(1ms) == std::future_status::ready;
  });
  EXPECT_EQ(running.get(), FaultCode::timed_out);
}

TEST_P(CancellingOnAServer, EndsAWaitForALock) {
  const Inbound inbound(declaration_, {Message{}});
  auto other = under_->open();
  auto holder = other->begin(enrolled_);
  holder->claim(inbound.claimants());
  auto running = std::async(std::launch::async, [&] { return fault_of([&] { begin()->claim(inbound.claimants()); }); });
  under_->await_waiter();
  store_->cancel();
  EXPECT_EQ(running.get(), FaultCode::timed_out);
}

}  // namespace
}  // namespace onceward
