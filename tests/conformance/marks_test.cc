// Going back to a mark: what is undone, what stays, and what a unit may not do with it.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using enum Verdict;

class Marks : public OnEveryStore {
 protected:
  // The effect of message `index`, and a row of every kind beside it.
  void run(UnitOfWork& unit, std::size_t index) {
    Transaction& transaction = unit.on(index);
    insert_effect(inbound_.envelope(index), transaction);
    transaction.stage(Outgoing{"captured", "k", "{}"});
    transaction.stage(Call{"gateway", inbound_.envelope(index).message_id().text(), "{}"});
  }
  static void break_it(Transaction& transaction) { transaction.execute("INSERT INTO effect (message) VALUES (NULL)"); }
  const Key& key(std::size_t index) const { return inbound_.claimants()[index].key; }
  std::string messages() {
    std::string all;
    for (const TextRow& row : under_->reader().read("SELECT message FROM effect ORDER BY message")) all += *row[0];
    return all;
  }

  Inbound inbound_{declaration_, {{.id = "a"}, {.id = "b"}, {.id = "c"}}};
};
ONCEWARD_ON_EVERY_STORE(Marks);

TEST_P(Marks, OnlyWhatCameAfterTheMarkIsUndone) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->finish(0, Done{"kept"});
  unit->count(key(0), Attempt::failure, "before");
  unit->mark();
  run(*unit, 1);
  unit->finish(0, Done{"changed"});
  unit->finish(1, Failed{"undone"});
  unit->count(key(1), Attempt::failure, "after");
  unit->back_to_mark();
  unit->finish(0, Done{"kept"});
  unit->finish(1, Ignored{"not_run_again"});
  run(*unit, 2);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(messages(), "ac");
  EXPECT_EQ(under_->rows_in("outbox"), 2);
  EXPECT_EQ(under_->rows_in("ledger"), 2);
  EXPECT_EQ(under_->rows_in("quarantine"), 0);
  EXPECT_EQ(under_->reader().value("SELECT code FROM " + under_->table("attempt")), "before");
  EXPECT_EQ(verdicts(apply(inbound_)), (Verdicts{duplicate, duplicate, duplicate}));
}

TEST_P(Marks, OutcomeThatWasReplacedSinceTheMarkIsTheOldOneAgain) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  unit->finish(0, Retry{"before", std::chrono::hours(1)});
  unit->mark();
  unit->finish(0, Done{"after"});
  unit->back_to_mark();
  EXPECT_EQ(unit->answers()[0].verdict, first);
  EXPECT_EQ(unit->commit(), Commit::failed) << "it was finished since, and nobody has said anew";

  unit = begin();
  unit->claim(inbound_.claimants());
  unit->finish(0, Retry{"before", std::chrono::hours(1)});
  unit->mark();
  unit->finish(0, Done{"after"});
  unit->back_to_mark();
  unit->on(0);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->reader().value("SELECT code FROM " + under_->table("inbox_outcome")), "before");
  EXPECT_EQ(under_->reader().number("SELECT count(next_attempt_at) FROM " + under_->table("inbox_outcome")), 1);
}

TEST_P(Marks, StatementThatFailedIsUndoneAndTheRestCommits) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->mark();
  run(*unit, 1);
  break_it(unit->on(1));
  run(*unit, 2);
  EXPECT_EQ(fault_of([&] { unit->mark(); }), FaultCode::constraint_violated);
  EXPECT_EQ(unit->culprit(), 1u);
  EXPECT_EQ(fault_of([&] { unit->whole().query("SELECT 1"); }), FaultCode::transaction_failed);
  unit->back_to_mark();
  EXPECT_FALSE(unit->culprit());
  unit->finish(1, Failed{"constraint_violated"});
  run(*unit, 2);
  unit->mark();
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(messages(), "ac");
  EXPECT_EQ(under_->rows_in("outbox"), 2);
  EXPECT_EQ(under_->rows_in("quarantine"), 1);
}

TEST_P(Marks, QueryThatFailedIsUndoneAndTheUnitCanBeAskedAgain) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->mark();
  insert_effect(inbound_.envelope(1), unit->on(1));
  fault_of([&] { unit->on(1).query("SELECT no_such_column FROM effect"); });
  unit->back_to_mark();
  EXPECT_EQ(unit->whole().query("SELECT message FROM effect"), (Rows{{std::string("a")}}));
}

// One of them would fail, and another was refused before any was sent.
TEST_P(Marks, StatementsThatWereNeverSentDoNotStandInTheWayBack) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->mark();
  break_it(unit->on(1));
  unit->on(2).execute("INSERT INTO effect (message) VALUES ($1)", std::string_view("a\0b", 3));
  fault_of([&] { unit->flush(); });
  unit->back_to_mark();
  unit->finish(1, Failed{"broken"});
  unit->finish(2, Failed{"broken"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(messages(), "a");
}

TEST_P(Marks, CommitThatFailedLeavesTheWayBackOpen) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->mark();
  for (std::size_t failing : {1u, 2u}) {
    if (failing == 1) run(*unit, 2);
    break_it(unit->on(failing));
    EXPECT_EQ(fault_of([&] { unit->commit(); }), FaultCode::constraint_violated);
    EXPECT_EQ(unit->culprit(), failing);
    EXPECT_EQ(traces(), nothing);
    unit->back_to_mark();
    unit->finish(1, Failed{"broken"});
  }
  unit->finish(2, Failed{"broken"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(messages(), "a");
  EXPECT_EQ(under_->rows_in("inbox"), 3);
  EXPECT_EQ(under_->rows_in("quarantine"), 2);
}

TEST_P(Marks, CommitThatFailedAndIsNotTakenBackLeavesNothing) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->mark();
  break_it(unit->on(1));
  EXPECT_EQ(fault_of([&] { unit->commit(); }), FaultCode::constraint_violated);
  EXPECT_EQ(unit->commit(), Commit::failed);
  EXPECT_EQ(fault_of([&] { unit->back_to_mark(); }), FaultCode::transaction_failed);
  unit.reset();
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(verdicts(apply(inbound_)), (Verdicts{first, first, first}));
}

// A flush after the mark writes what was staged before it, and going back takes that away too.
TEST_P(Marks, WhatWasBufferedBeforeTheMarkAndWrittenAfterItIsWrittenAgain) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->finish(1, Failed{"broken"});
  unit->count(key(1), Attempt::failure, "broken");
  unit->park(inbound_.envelope(2), "malformed", "");
  unit->mark();
  unit->flush();
  unit->back_to_mark();
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(traces(), (Traces{.inbox = 3,
                              .outcomes = 1,
                              .bodies = 1,
                              .operations = 0,
                              .effects = 1,
                              .outbox = 1,
                              .facts = 0,
                              .ledger = 1,
                              .quarantine = 2}));
  EXPECT_EQ(under_->rows_in("attempt"), 1);
}

TEST_P(Marks, WhatWasFlushedBeforeTheMarkIsNotWrittenTwice) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->count(key(0), Attempt::failure, "");
  unit->park(inbound_.envelope(2), "malformed", "");
  unit->flush();
  unit->mark();
  run(*unit, 1);
  unit->back_to_mark();
  run(*unit, 1);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("outbox"), 2);
  EXPECT_EQ(under_->rows_in("attempt"), 1);
}

TEST_P(Marks, WhatWasParkedSinceTheMarkStays) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  unit->mark();
  unit->park(inbound_.envelope(2), "malformed", "");
  unit->back_to_mark();
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("quarantine"), 1);
}

TEST_P(Marks, MessageThatWasUndoneMustRunAgainOrBeFinished) {
  for (const std::string then : {"nothing", "run", "finish"}) {
    auto unit = begin();
    unit->claim(inbound_.claimants());
    unit->mark();
    run(*unit, 0);
    unit->back_to_mark();
    if (then == "run") run(*unit, 0);
    if (then == "finish") unit->finish(0, Retry{"later"});
    EXPECT_EQ(unit->commit(), then == "nothing" ? Commit::failed : Commit::committed) << then;
    EXPECT_EQ(under_->rows_in("inbox"), then == "nothing" ? 0 : 3) << then;
    under_->reader().run("DELETE FROM " + under_->table("inbox"));
  }
}

TEST_P(Marks, WhatIsStagedAgainHasTheSameIds) {
  const std::string ids = "SELECT id FROM " + under_->table("outbox") + " ORDER BY position";
  const auto stage_two = [&](UnitOfWork& unit) {
    for (int i = 0; i < 2; ++i) unit.on(0).stage(Outgoing{"captured", "k", "{}"});
  };
  const auto staged = [&](bool marked) {
    auto unit = begin();
    unit->claim(inbound_.claimants());
    stage_two(*unit);
    if (marked) {
      unit->mark();
      stage_two(*unit);
      unit->flush();
      unit->back_to_mark();
    }
    stage_two(*unit);
    unit->flush();
    return unit->whole().query(ids);
  };
  const Rows plain = staged(false);
  EXPECT_EQ(plain.size(), 4u);
  EXPECT_EQ(staged(true), plain);
}

TEST_P(Marks, MessageWithSomethingBeforeTheMarkCannotBeForgottenAndKeepsItAll) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  unit->on(0).stage(Outgoing{"captured", "k", "{}"});
  unit->mark();
  insert_effect(inbound_.envelope(0), unit->on(0));
  EXPECT_FALSE(unit->forget(0));
  unit->back_to_mark();
  insert_effect(inbound_.envelope(0), unit->on(0));
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("outbox"), 1);
}

TEST_P(Marks, MessageSentSinceTheMarkCanBeForgottenAfterGoingBack) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  unit->mark();
  unit->on(0).query("SELECT 1");
  unit->back_to_mark();
  insert_effect(inbound_.envelope(0), unit->on(0));
  EXPECT_TRUE(unit->forget(0));
}

TEST_P(Marks, MessageThatAskedForWhatCannotBeDoneKeepsTheUnitFromItsMark) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  fault_of([&] { unit->on(1).execute("COMMIT"); });
  EXPECT_EQ(unit->culprit(), 1u);
  EXPECT_EQ(fault_of([&] { unit->mark(); }), FaultCode::statement_failed);
  EXPECT_TRUE(unit->forget(1));
  unit->finish(1, Failed{"refused"});
  unit->mark();
  EXPECT_EQ(unit->commit(), Commit::committed);
}

TEST_P(Marks, ThirtyTwoAreAllowedInAUnit) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  for (int mark = 0; mark < 32; ++mark) {
    insert_effect(inbound_.envelope(0), unit->on(0));
    unit->mark();
  }
  EXPECT_EQ(fault_of([&] { unit->mark(); }), FaultCode::statement_failed);
  insert_effect(inbound_.envelope(0), unit->on(0));
  unit->back_to_mark();
  unit->on(0);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 32);
}

TEST_P(Marks, ClaimAfterAMarkIsRefused) {
  auto unit = begin();
  unit->mark();
  EXPECT_EQ(fault_of([&] { unit->claim(inbound_.claimants()); }), FaultCode::statement_failed);
  unit = nullptr;
  unit = begin();
  unit->mark();
  EXPECT_EQ(fault_of([&] { unit->resume(inbound_.claimants()); }), FaultCode::statement_failed);
}

TEST_P(Marks, UnitWithoutAMarkCannotGoBack) {
  auto unit = begin();
  EXPECT_EQ(fault_of([&] { unit->back_to_mark(); }), FaultCode::statement_failed);
  fault_of([&] { unit->whole().query("SELECT no_such_column FROM effect"); });
  EXPECT_EQ(fault_of([&] { unit->back_to_mark(); }), FaultCode::statement_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
}

TEST_P(Marks, TransactionThatEndedWithItsCommitCannotGoBack) {
  const bool server = GetParam().capabilities.typed_columns;
  under_->reader().run(server ? "CREATE TABLE late (a integer UNIQUE DEFERRABLE INITIALLY DEFERRED)"
                              : "CREATE TABLE late (a INTEGER UNIQUE ON CONFLICT ROLLBACK)");
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->mark();
  unit->on(1).execute("INSERT INTO late VALUES (1)");
  unit->on(1).execute("INSERT INTO late VALUES (1)");
  EXPECT_EQ(fault_of([&] { unit->commit(); }), FaultCode::constraint_violated);
  EXPECT_EQ(fault_of([&] { unit->back_to_mark(); }), FaultCode::transaction_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
  EXPECT_EQ(traces(), nothing);
}

TEST_P(Marks, TransactionThatEndedOnTheWayCannotGoBack) {
  const bool server = GetParam().capabilities.typed_columns;
  under_->reader().run("CREATE TABLE late (a INTEGER UNIQUE" + std::string(server ? ")" : " ON CONFLICT ROLLBACK)"));
  auto unit = begin();
  unit->claim(inbound_.claimants());
  run(*unit, 0);
  unit->mark();
  unit->on(1).execute("INSERT INTO late VALUES (1)");
  fault_of([&] {
    unit->on(1).query(server ? "SELECT pg_terminate_backend(pg_backend_pid())" : "INSERT INTO late VALUES (1)");
  });
  EXPECT_EQ(fault_of([&] { unit->back_to_mark(); }), FaultCode::transaction_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
  unit.reset();
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(verdicts(apply(inbound_)), (Verdicts{first, first, first}));
}

TEST_P(Marks, MarkIsOneRoundTripWithWhatRanBeforeIt) {
  auto unit = begin();
  unit->claim(inbound_.claimants());
  for (std::size_t index = 0; index < 3; ++index) insert_effect(inbound_.envelope(index), unit->on(index));
  const std::uint64_t before = store_->counters().round_trips;
  unit->mark();
  EXPECT_EQ(store_->counters().round_trips - before, GetParam().capabilities.typed_columns ? 1u : 0u);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 3);
}

}  // namespace
}  // namespace onceward
