// How a unit of work ends, and what is left of it.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using enum Verdict;

class Units : public OnEveryStore {
 protected:
  // A handler that leaves a trace of every kind.
  static Outcome leave_traces(const Envelope& envelope, Transaction& transaction) {
    insert_effect(envelope, transaction);
    transaction.stage(Outgoing{.type = "captured",
                               .key = "order 1",
                               .payload = "{}",
                               .aggregate_type = "order",
                               .aggregate_id = envelope.message_id().text(),
                               .aggregate_version = 1,
                               .unique_fact = true});
    transaction.stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
    return Done{"result"};
  }
};
ONCEWARD_ON_EVERY_STORE(Units);

TEST_P(Units, CommittedUnitLeavesEverythingItDid) {
  apply(Inbound(declaration_, {Message{}}), leave_traces);
  EXPECT_EQ(traces(), (Traces{.inbox = 1,
                              .outcomes = 1,
                              .bodies = 0,
                              .operations = 0,
                              .effects = 1,
                              .outbox = 1,
                              .facts = 1,
                              .ledger = 1,
                              .quarantine = 0}));
}

TEST_P(Units, AbandonedUnitForgetsItsClaimItsEffectAndWhatItStaged) {
  const Inbound inbound(declaration_, {Message{}});
  {
    auto unit = begin();
    run_handlers(*unit, inbound, leave_traces);
    unit->park(inbound.envelope(0), "malformed", "");
    unit->flush();
  }
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(verdicts(apply(inbound)), Verdicts{first});
}

TEST_P(Units, NextUnitBeginsAfterAnAbandonedOne) {
  for (int round = 0; round < 3; ++round) begin();
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, {Message{}}))), Verdicts{first});
}

TEST_P(Units, UnitInWhichAStatementFailedCanNeverCommit) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  run_handlers(*unit, inbound, leave_traces);
  EXPECT_EQ(fault_of([&] { unit->whole().query("SELECT no_such_column FROM effect"); }), FaultCode::statement_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
  unit.reset();
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(verdicts(apply(inbound)), Verdicts{first});
}

TEST_P(Units, StatementsAfterAFailedOneAreRefused) {
  auto unit = begin();
  fault_of([&] { unit->whole().query("SELECT no_such_column FROM effect"); });
  EXPECT_EQ(fault_of([&] {
              unit->whole().execute("INSERT INTO effect (message) VALUES ('late')");
              unit->whole().query("SELECT 1");
            }),
            FaultCode::transaction_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
  EXPECT_EQ(under_->effects(), 0);
}

TEST_P(Units, FailureOfABufferedStatementIsThrownByTheNextCallThatWaits) {
  auto unit = begin();
  unit->whole().execute("INSERT INTO no_such_table (a) VALUES ($1)", 1);
  EXPECT_EQ(fault_of([&] { unit->whole().query("SELECT 1"); }), FaultCode::statement_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
}

TEST_P(Units, FailureOfABufferedStatementEndsTheCommit) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  run_handlers(*unit, inbound, [](const Envelope& envelope, Transaction& transaction) -> Outcome {
    leave_traces(envelope, transaction);
    transaction.execute("INSERT INTO effect (message) VALUES (NULL)");
    return Done{};
  });
  EXPECT_EQ(fault_of([&] { unit->commit(); }), FaultCode::constraint_violated);
  unit.reset();
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(verdicts(apply(inbound)), Verdicts{first});
}

TEST_P(Units, WorkThatThrowsLeavesNothing) {
  const Inbound inbound(declaration_, {Message{}});
  EXPECT_THROW(apply(inbound,
                     [](const Envelope& envelope, Transaction& transaction) -> Outcome {
                       leave_traces(envelope, transaction);
                       throw std::domain_error("a handler's own");
                     }),
               std::domain_error);
  EXPECT_EQ(traces(), nothing);
}

TEST_P(Units, HandlersCannotEndOrDivideTheTransaction) {
  const Inbound inbound(declaration_, {Message{}});
  for (const char* const statement :
       {"COMMIT", "commit;", " /* now */ END", "-- now\nCOMMIT", "ROLLBACK", "; COMMIT", "BEGIN", "COMMIT AND CHAIN",
        "SAVEPOINT here", "PREPARE TRANSACTION 'x'", "INSERT INTO effect (message) VALUES ('two'); COMMIT"}) {
    auto unit = begin();
    run_handlers(*unit, inbound, leave_traces);
    EXPECT_THROW(
        {
          unit->whole().execute(statement);
          unit->whole().query("SELECT 1");
        },
        Fault)
        << statement;
    EXPECT_EQ(traces(), nothing) << statement << " has committed something";
    EXPECT_EQ(unit->commit(), Commit::failed) << statement;
    unit.reset();
    EXPECT_EQ(traces(), nothing) << statement;
  }
  EXPECT_EQ(verdicts(apply(inbound)), Verdicts{first});
}

TEST_P(Units, StatementRefusedBeforeItWasSentSpoilsOnlyItsMessage) {
  const Inbound inbound(declaration_, {{.id = "good"}, {.id = "bad"}});
  for (const bool forgotten : {false, true}) {
    auto unit = begin();
    unit->claim(inbound.claimants());
    leave_traces(inbound.envelope(0), unit->on(0));
    leave_traces(inbound.envelope(1), unit->on(1));
    EXPECT_THROW(unit->on(1).execute("COMMIT"), Fault);
    if (forgotten) {
      EXPECT_TRUE(unit->forget(1));
      unit->finish(1, Failed{"refused"});
    }
    EXPECT_EQ(unit->commit(), forgotten ? Commit::committed : Commit::failed);
    EXPECT_EQ(under_->effects(), forgotten ? 1 : 0);
  }
  EXPECT_EQ(under_->effects("message = 'bad'"), 0);
}

TEST_P(Units, MessageForgottenBeforeAnythingWasSentLeavesItsNeighboursUnharmed) {
  const Inbound inbound(declaration_, {{.id = "good"}, {.id = "bad"}, {.id = "late"}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  leave_traces(inbound.envelope(0), unit->on(0));
  leave_traces(inbound.envelope(1), unit->on(1));
  EXPECT_TRUE(unit->forget(1));
  leave_traces(inbound.envelope(2), unit->on(2));
  unit->finish(1, Failed{"threw"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 2);
  EXPECT_EQ(under_->effects("message = 'bad'"), 0);
  EXPECT_EQ(under_->rows_in("outbox"), 2);
  EXPECT_EQ(under_->rows_in("ledger"), 2);
  EXPECT_EQ(under_->rows_in("inbox"), 3);
}

TEST_P(Units, MessageWhoseStatementsWereSentCannotBeForgotten) {
  const Inbound inbound(declaration_, {{.id = "good"}, {.id = "bad"}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  insert_effect(inbound.envelope(0), unit->on(0));
  Transaction& bad = unit->on(1);
  insert_effect(inbound.envelope(1), bad);
  EXPECT_EQ(bad.query("SELECT count(*) FROM effect").size(), 1u);
  EXPECT_FALSE(unit->forget(1));
}

TEST_P(Units, QueryAloneNeedsNoRollback) {
  // What went to the store were the neighbour's statements; the message itself has written nothing yet.
  const Inbound inbound(declaration_, {{.id = "good"}, {.id = "later"}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  insert_effect(inbound.envelope(0), unit->on(0));
  unit->on(0).query("SELECT 1");
  insert_effect(inbound.envelope(1), unit->on(1));
  EXPECT_TRUE(unit->forget(1));
  unit->finish(1, Failed{"threw"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Units, MessageSeesWhatItsNeighbourWroteInTheSameUnit) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  insert_effect(inbound.envelope(0), unit->on(0));
  EXPECT_EQ(unit->on(1).query("SELECT message FROM effect"), (Rows{{std::string("a")}}));
}

TEST_P(Units, ClaimIsNotSeenByOthersBeforeTheCommit) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  run_handlers(*unit, inbound, leave_traces);
  unit->flush();
  EXPECT_EQ(traces(), nothing);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Units, CountersCountWhatHappened) {
  const StoreCounters before = store_->counters();
  apply(Inbound(declaration_, {Message{}}));
  const StoreCounters after = store_->counters();
  EXPECT_EQ(after.transactions, before.transactions + 1);
  EXPECT_GT(after.statements, before.statements);
  EXPECT_EQ(after.reconnects, before.reconnects);
}

TEST_P(Units, StoreDescribesItselfWithoutCredentials) {
  EXPECT_FALSE(store_->describe().empty());
  EXPECT_EQ(store_->describe().find("password"), std::string::npos);
}

}  // namespace
}  // namespace onceward
