// Our part in the caller's own transaction: it commits and rolls back with the caller's work.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using enum Verdict;

class Enlistments : public OnEveryStore {
 protected:
  static Outcome work(const Envelope& envelope, Transaction& transaction) {
    insert_effect(envelope, transaction);
    transaction.stage(Outgoing{.type = "captured", .key = "1", .payload = "{}"});
    transaction.stage(Call{.endpoint = "gateway", .key = envelope.message_id().text(), .body = "{}"});
    return Done{"result"};
  }
  Verdicts enlist(const Inbound& inbound, const char* ending) {
    caller_->begin();
    caller_->sql().run("INSERT INTO effect (message) VALUES ('of the caller')");
    auto enlistment = caller_->enlist(enrolled_);
    run_handlers(*enlistment, inbound, work);
    enlistment->flush();
    Verdicts answered = verdicts(enlistment->answers());
    enlistment.reset();
    caller_->sql().run("INSERT INTO effect (message) VALUES ('of the caller')");
    caller_->sql().run(ending);
    return answered;
  }

  std::unique_ptr<CallersConnection> caller_ = under_->connect();
};
INSTANTIATE_TEST_SUITE_P(Store, Enlistments,
                         testing::ValuesIn(fixtures::backends_that(&Capabilities::callers_transaction)), backend_name);

TEST_P(Enlistments, CallersCommitCommitsClaimEffectAndWhatWasStaged) {
  const Inbound inbound(declaration_, {Message{}});
  EXPECT_EQ(enlist(inbound, "COMMIT"), Verdicts{first});
  EXPECT_EQ(traces(), (Traces{.inbox = 1,
                              .outcomes = 1,
                              .bodies = 0,
                              .operations = 0,
                              .effects = 3,
                              .outbox = 1,
                              .facts = 0,
                              .ledger = 1,
                              .quarantine = 0}));
  EXPECT_EQ(enlist(inbound, "COMMIT"), Verdicts{duplicate});
}

TEST_P(Enlistments, CallersRollbackUndoesClaimEffectAndWhatWasStaged) {
  const Inbound inbound(declaration_, {Message{}});
  EXPECT_EQ(enlist(inbound, "ROLLBACK"), Verdicts{first});
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(enlist(inbound, "COMMIT"), Verdicts{first});
}

TEST_P(Enlistments, WorkerAndCallerShareTheirTables) {
  const Inbound mine(declaration_, {{.id = "mine"}});
  const Inbound theirs(declaration_, {{.id = "theirs"}});
  enlist(mine, "COMMIT");
  EXPECT_EQ(verdicts(apply(mine)), Verdicts{duplicate});
  apply(theirs);
  EXPECT_EQ(enlist(theirs, "COMMIT"), Verdicts{duplicate});
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, {{.id = "mine", .payload = "other"}}))), Verdicts{conflict});
}

TEST_P(Enlistments, OutsideATransactionItIsRefused) {
  EXPECT_THROW(caller_->enlist(enrolled_), Fault);
  // And the connection is as good as before.
  EXPECT_EQ(caller_->sql().number("SELECT 1"), 1);
}

TEST_P(Enlistments, CallersConnectionIsLeftAsItWas) {
  enlist(Inbound(declaration_, {Message{}}), "COMMIT");
  EXPECT_EQ(caller_->sql().number("SELECT count(*) FROM effect"), 3);
  caller_->begin();
  caller_->sql().run("INSERT INTO effect (message) VALUES ('later')");
  caller_->sql().run("ROLLBACK");
  EXPECT_EQ(under_->effects(), 3);
}

TEST_P(Enlistments, ConsumerIsEnrolledThroughTheCallersConnection) {
  EXPECT_EQ(caller_->enroll(declaration_).number, enrolled_.number);
  caller_->begin();
  const Enrolled shipping = caller_->enroll(consumer("shipping"));
  caller_->sql().run("COMMIT");
  EXPECT_EQ(store_->enroll(consumer("shipping")).number, shipping.number);
}

TEST_P(Enlistments, OperationsAreClaimedToo) {
  declaration_ = consumer_with_operation("capturing");
  enrolled_ = store_->enroll(declaration_);
  EXPECT_EQ(enlist(Inbound(declaration_, {{.id = "a", .idempotency_key = "capture 1"}}), "COMMIT"), Verdicts{first});
  EXPECT_EQ(enlist(Inbound(declaration_, {{.id = "b", .idempotency_key = "capture 1"}}), "COMMIT"),
            Verdicts{duplicate});
}

TEST_P(Enlistments, OneThatEndsWithoutAFlushHasWrittenNothingOfWhatItBuffered) {
  const Inbound inbound(declaration_, {Message{}});
  caller_->begin();
  {
    auto enlistment = caller_->enlist(enrolled_);
    enlistment->claim(inbound.claimants());
  }
  caller_->sql().run("ROLLBACK");
  EXPECT_EQ(traces(), nothing);
}

TEST_P(Enlistments, FailureOfOurPartIsThrownAndTheCallerRollsBack) {
  caller_->begin();
  auto enlistment = caller_->enlist(enrolled_);
  EXPECT_EQ(fault_of([&] { enlistment->whole().query("SELECT no_such_column FROM effect"); }),
            FaultCode::statement_failed);
  enlistment.reset();
  caller_->sql().run("ROLLBACK");
  EXPECT_EQ(enlist(Inbound(declaration_, {Message{}}), "COMMIT"), Verdicts{first});
}

}  // namespace
}  // namespace onceward
