// Messages that wait in the store: when they are due, who gets them, and how they end.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using enum Verdict;
using namespace std::chrono_literals;

class Waiting : public OnEveryStore {
 protected:
  void let_wait(const Inbound& inbound, std::chrono::milliseconds after = 0ms) {
    apply(inbound, [&](const Envelope&, Transaction&) -> Outcome { return Retry{"gateway_busy", after}; });
  }
  std::optional<Kept> start_due(std::chrono::milliseconds lease = 1h) {
    auto unit = begin();
    auto kept = unit->start_due(lease);
    EXPECT_EQ(unit->commit(), Commit::committed);
    return kept;
  }
  // Parked without a claim, and sent again by a person an hour ago.
  void park_and_send_again(const Envelope& envelope, const std::string& reason = "malformed") {
    auto unit = begin();
    unit->park(envelope, reason, "");
    ASSERT_EQ(unit->commit(), Commit::committed);
    send_again("reason = '" + reason + "'");
  }
  void send_again(const std::string& where = "1 = 1") {
    under_->reader().run("UPDATE " + under_->table("quarantine") + " SET state = 'retrying', retry_at = " +
                         (GetParam().capabilities.typed_columns ? "now() - interval '1 hour'" : "1") + " WHERE " +
                         where);
  }
  // As the command does for a message that has an inbox row: it waits there.
  void send_again_with_key() {
    send_again();
    under_->reader().run("UPDATE " + under_->table("inbox_outcome") + " SET state = 5, next_attempt_at = " +
                         (GetParam().capabilities.typed_columns ? "now()" : "1"));
  }
  std::string quarantine_state() { return under_->reader().value("SELECT state FROM " + under_->table("quarantine")); }
  static bool resumes(UnitOfWork& unit, const Inbound& inbound) {
    unit.resume(inbound.claimants());
    return unit.first(0);
  }
  void resume(const Inbound& inbound, Outcome outcome) {
    auto unit = begin();
    ASSERT_TRUE(resumes(*unit, inbound));
    insert_effect(inbound.envelope(0), unit->on(0));
    unit->finish(0, std::move(outcome));
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  int used(const Key& key) { return begin()->attempts(std::array{key})[0]; }

  Inbound inbound_{declaration_, {{.id = "a", .payload = "{ \"exact\":  1 }"}}};
};
ONCEWARD_ON_EVERY_STORE(Waiting);

TEST_P(Waiting, NothingIsDueWhereNothingWaits) {
  apply(inbound_);
  EXPECT_FALSE(store_->next_due(enrolled_));
  EXPECT_FALSE(start_due());
}

TEST_P(Waiting, MessageIsDueWhenItsTimeHasComeAndComesBackAsItWas) {
  let_wait(inbound_);
  EXPECT_EQ(store_->next_due(enrolled_), 0ms);
  const auto kept = start_due();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->envelope, inbound_.envelope(0));
  EXPECT_EQ(kept->key, inbound_.claimants()[0].key);
  EXPECT_EQ(kept->quarantine, 0);
  EXPECT_EQ(kept->attempts, 1);
}

TEST_P(Waiting, MessageIsNotDueBeforeItsTime) {
  let_wait(inbound_, 1h);
  const auto due = store_->next_due(enrolled_);
  ASSERT_TRUE(due);
  EXPECT_GT(*due, 59min);
  EXPECT_LE(*due, 60min);
  EXPECT_FALSE(start_due());
  EXPECT_EQ(used(inbound_.claimants()[0].key), 0);
}

TEST_P(Waiting, StartIsCountedAndTheLeaseKeepsOthersAway) {
  let_wait(inbound_);
  ASSERT_TRUE(start_due(1h));
  EXPECT_EQ(used(inbound_.claimants()[0].key), 1);
  EXPECT_FALSE(start_due());
  EXPECT_GT(store_->next_due(enrolled_), 59min);
}

TEST_P(Waiting, MessageWhoseLeaseHasEndedIsStartedAgain) {
  let_wait(inbound_);
  ASSERT_TRUE(start_due(0ms));
  const auto again = start_due(0ms);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attempts, 2);
}

TEST_P(Waiting, FewerAreTakenTogetherWhereTheyAreLarge) {
  std::vector<Message> messages;
  for (int i = 0; i < 20; ++i) messages.push_back({.id = std::to_string(i), .payload = std::string(1u << 20, 'x')});
  let_wait(Inbound(declaration_, messages));
  for (const std::size_t taken : {16u, 4u, 0u}) {
    auto unit = begin();
    EXPECT_EQ(unit->take_due(256, 1h).size(), taken);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
}

TEST_P(Waiting, SeveralAreTakenTogetherAndKeptFromOthers) {
  const Inbound some(declaration_, {{.id = "a"}, {.id = "b"}, {.id = "c"}});
  let_wait(some);
  auto unit = begin();
  EXPECT_EQ(unit->take_due(2, 1h).size(), 2u);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(
      under_->reader().number(fmt::format(
          "SELECT count(*) FROM {0} WHERE state = 2 AND recorded_at > (SELECT max(recorded_at) FROM {0} WHERE state = 5)",
          under_->table("inbox_outcome"))),
      2)
      << "since when they are claimed is known";
  unit = begin();
  const auto rest = unit->take_due(10, 1h);
  ASSERT_EQ(unit->commit(), Commit::committed);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(used(*rest[0].key), 0) << "nothing is counted";
  EXPECT_FALSE(start_due());
  EXPECT_TRUE(begin()->take_due(10, 1h).empty());

  unit = begin();
  unit->resume(some.claimants());
  for (std::size_t i = 0; i < some.size(); ++i) {
    ASSERT_TRUE(unit->first(i));
    insert_effect(some.envelope(i), unit->on(i));
  }
  unit->finish(1, Retry{"again"});
  unit->finish(2, Failed{"never"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(verdicts(apply(some)), (Verdicts{duplicate, held, duplicate}));
  EXPECT_EQ(under_->rows_in("quarantine"), 1);
  EXPECT_EQ(under_->rows_in("inbox_body"), 2);
}

TEST_P(Waiting, OneThatWasTakenAndNotFinishedIsStartedAlone) {
  let_wait(inbound_);
  auto unit = begin();
  ASSERT_EQ(unit->take_due(10, 0ms).size(), 1u);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_TRUE(begin()->take_due(10, 1h).empty()) << "it may have ended a worker";
  const auto kept = start_due();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->attempts, 1);
  EXPECT_TRUE(resumes(*begin(), inbound_));
}

TEST_P(Waiting, AbandonedStartLeavesTheMessageDueAndNothingCounted) {
  let_wait(inbound_);
  ASSERT_TRUE(begin()->start_due(1h));
  EXPECT_EQ(used(inbound_.claimants()[0].key), 0);
  EXPECT_TRUE(start_due());
}

TEST_P(Waiting, OldestIsFirstWhicheverWayItWaits) {
  let_wait(inbound_);
  const Inbound later(declaration_, {{.id = "b"}});
  let_wait(later);
  const Envelope refused = envelope_of({.id = "refused"});
  park_and_send_again(refused);
  std::vector<Envelope> order;
  for (int round = 0; round < 4; ++round) {
    if (const auto kept = start_due()) order.push_back(kept->envelope);
  }
  EXPECT_EQ(order, (std::vector<Envelope>{refused, inbound_.envelope(0), later.envelope(0)}));
}

TEST_P(Waiting, ConsumerGetsOnlyItsOwn) {
  let_wait(inbound_);
  park_and_send_again(envelope_of({.id = "refused"}));
  const Enrolled other = store_->enroll(consumer("shipping"));
  EXPECT_FALSE(store_->next_due(other));
  EXPECT_FALSE(store_->begin(other)->start_due(1h));
}

TEST_P(Waiting, MessageThatWasRefusedAndSentAgainIsDueWithoutAKey) {
  const Envelope refused = envelope_of({.id = "refused", .payload = "{"});
  park_and_send_again(refused);
  EXPECT_EQ(store_->next_due(enrolled_), 0ms);
  const auto kept = start_due(0ms);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->envelope, refused);
  EXPECT_FALSE(kept->key);
  EXPECT_EQ(kept->quarantine, under_->reader().number("SELECT number FROM " + under_->table("quarantine")));
  EXPECT_EQ(kept->attempts, 1);
  EXPECT_EQ(start_due(1h)->attempts, 2);
  EXPECT_FALSE(start_due());
  EXPECT_GT(store_->next_due(enrolled_), 59min);
}

TEST_P(Waiting, RowThatWasTakenCareOfIsNotDueAgain) {
  park_and_send_again(envelope_of({.id = "refused"}));
  const auto kept = start_due(0ms);
  ASSERT_TRUE(kept);
  {
    auto unit = begin();
    unit->resolve(kept->quarantine);
    unit->flush();
  }
  EXPECT_EQ(quarantine_state(), "retrying") << "the unit was abandoned";
  auto unit = begin();
  unit->resolve(kept->quarantine);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(quarantine_state(), "resolved");
  EXPECT_FALSE(start_due());
  EXPECT_FALSE(store_->next_due(enrolled_));
}

TEST_P(Waiting, RowThatIsParkedAnewInTheSameUnitIsParked) {
  const Envelope refused = envelope_of({.id = "refused"});
  park_and_send_again(refused);
  const auto kept = start_due(0ms);
  ASSERT_TRUE(kept);
  auto unit = begin();
  unit->resolve(kept->quarantine);
  unit->park(refused, "malformed", "still");
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(quarantine_state(), "parked");
  EXPECT_EQ(under_->reader().number("SELECT attempts FROM " + under_->table("quarantine")), 1);
  EXPECT_FALSE(start_due());
}

TEST_P(Waiting, HeadersThatAreNoTextComeBackAsTheyWere) {
  const std::array<Header, 3> headers{
      {{"tenant", "main"}, {"trace", "\xff\xfe"}, {"trace", std::string_view("\0", 1)}}};
  EnvelopeFields fields = inbound_.envelope(0).fields();
  fields.headers = headers;
  fields.trace_parent = "\x80";
  const Envelope envelope = Envelope::copy_of(fields);
  const std::array claimants{std::get<Claimant>(identify(envelope, declaration_))};
  transact(*store_, enrolled_, {}, [&](UnitOfWork& unit) {
    unit.claim(claimants);
    unit.finish(0, Retry{"later"});
  });
  const auto kept = start_due();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->envelope, envelope);
}

TEST_P(Waiting, ResumedMessageIsFirstAndItsEffectCommits) {
  let_wait(inbound_);
  auto unit = begin();
  ASSERT_TRUE(resumes(*unit, inbound_));
  EXPECT_TRUE(unit->claimed());
  EXPECT_TRUE(unit->first(0));
  EXPECT_EQ(verdicts(unit->answers()), Verdicts{first});
  insert_effect(inbound_.envelope(0), unit->on(0));
  unit->on(0).stage(Outgoing{"captured", "k", "{}"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(verdicts(unit->answers()), Verdicts{first});
  unit.reset();
  EXPECT_EQ(traces(), (Traces{.inbox = 1,
                              .outcomes = 0,
                              .bodies = 0,
                              .operations = 0,
                              .effects = 1,
                              .outbox = 1,
                              .facts = 0,
                              .ledger = 0,
                              .quarantine = 0}));
  EXPECT_EQ(verdicts(apply(inbound_)), Verdicts{duplicate});
  EXPECT_FALSE(store_->next_due(enrolled_));
}

TEST_P(Waiting, ResumedMessageThatIsAbandonedWaitsAsBefore) {
  let_wait(inbound_);
  const Traces before = traces();
  {
    auto unit = begin();
    ASSERT_TRUE(resumes(*unit, inbound_));
    insert_effect(inbound_.envelope(0), unit->on(0));
    unit->finish(0, Done{"never"});
    unit->flush();
  }
  EXPECT_EQ(traces(), before);
  EXPECT_EQ(verdicts(apply(inbound_)), Verdicts{held});
  EXPECT_TRUE(start_due());
}

TEST_P(Waiting, OutcomeOfAResumedMessageReplacesWhatWasKeptOfIt) {
  struct Case {
    Outcome outcome;
    Recorded recorded;
    std::int64_t outcomes, bodies;
  };
  const std::vector<Case> cases{
      {Done{}, {State::processed, "", "", std::nullopt}, 0, 0},
      {Done{"receipt"}, {State::processed, "", "receipt", std::nullopt}, 1, 0},
      {Ignored{"late"}, {State::ignored, "late", "", std::nullopt}, 1, 0},
      {Rejected{"no"}, {State::rejected, "no", "", std::nullopt}, 1, 0},
      {Retry{"again", 1h}, {State::retryable_failed, "again", "", std::nullopt}, 1, 1},
      {Failed{"never"}, {State::quarantined, "never", "", std::nullopt}, 1, 1},
  };
  for (std::size_t at = 0; at < cases.size(); ++at) {
    SCOPED_TRACE(at);
    const Inbound inbound(declaration_, {{.id = std::to_string(at)}});
    let_wait(inbound);
    const Traces before = traces();
    resume(inbound, cases[at].outcome);
    EXPECT_EQ(traces().outcomes - before.outcomes + 1, cases[at].outcomes);
    EXPECT_EQ(traces().bodies - before.bodies + 1, cases[at].bodies);
    const auto answer = apply(inbound)[0];
    EXPECT_EQ(answer.verdict, terminal(cases[at].recorded.state) ? duplicate : held);
    EXPECT_EQ(answer.recorded, cases[at].recorded);
    EXPECT_FALSE(start_due()) << "none of them is due now";
  }
  EXPECT_GT(store_->next_due(enrolled_), 59min) << "one waits, and its hour begins now";
}

TEST_P(Waiting, MessageThatDoesNotWaitIsNotResumed) {
  EXPECT_FALSE(resumes(*begin(), inbound_)) << "unknown";
  apply(inbound_);
  auto unit = begin();
  EXPECT_FALSE(resumes(*unit, inbound_)) << "done";
  EXPECT_EQ(verdicts(unit->answers()), Verdicts{duplicate});
  EXPECT_FALSE(unit->first(0));
  unit.reset();
  const Inbound failed(declaration_, {{.id = "failed"}});
  apply(failed, [](const Envelope&, Transaction&) -> Outcome { return Failed{"never"}; });
  EXPECT_FALSE(resumes(*begin(), failed)) << "quarantined";
}

TEST_P(Waiting, UnitResumesOrClaimsOnce) {
  let_wait(inbound_);
  auto unit = begin();
  ASSERT_TRUE(resumes(*unit, inbound_));
  EXPECT_EQ(fault_of([&] { unit->claim(inbound_.claimants()); }), FaultCode::statement_failed);
  unit.reset();
  unit = begin();
  unit->claim(inbound_.claimants());
  EXPECT_EQ(fault_of([&] { unit->resume(inbound_.claimants()); }), FaultCode::statement_failed);
}

TEST_P(Waiting, ResumedMessageKeepsItsOperation) {
  declaration_ = consumer_with_operation("capturing");
  enrolled_ = store_->enroll(declaration_);
  const Inbound original(declaration_, {{.id = "a", .idempotency_key = "capture 1"}});
  let_wait(original);
  resume(original, Done{"captured"});
  const auto answer = apply(Inbound(declaration_, {{.id = "b", .idempotency_key = "capture 1"}}))[0];
  EXPECT_EQ(answer.verdict, duplicate);
  EXPECT_TRUE(answer.by_operation);
  EXPECT_EQ(answer.recorded->result, "captured");
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Waiting, MarksWorkInAResumedUnit) {
  let_wait(inbound_);
  auto unit = begin();
  ASSERT_TRUE(resumes(*unit, inbound_));
  unit->mark();
  unit->on(0).execute("INSERT INTO effect (message) VALUES (NULL)");
  EXPECT_EQ(fault_of([&] { unit->commit(); }), FaultCode::constraint_violated);
  EXPECT_EQ(unit->culprit(), 0u);
  unit->back_to_mark();
  unit->count(inbound_.claimants()[0].key, Attempt::failure, "constraint_violated");
  unit->finish(0, Failed{"constraint_violated"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(quarantine_state(), "parked");
  EXPECT_FALSE(store_->next_due(enrolled_));
}

TEST_P(Waiting, RowInTheQuarantineFollowsTheMessageThatWasSentAgain) {
  struct Case {
    Outcome outcome;
    const char* state;
  };
  for (const Case& expected :
       {Case{Done{}, "resolved"}, Case{Ignored{"late"}, "resolved"}, Case{Rejected{"no"}, "resolved"},
        Case{Retry{"later", 1h}, "retrying"}, Case{Failed{"never"}, "parked"}}) {
    SCOPED_TRACE(expected.state);
    const Inbound inbound(declaration_, {Message{}});
    apply(inbound, [](const Envelope&, Transaction&) -> Outcome { return Failed{"never"}; });
    send_again_with_key();
    ASSERT_TRUE(start_due()->key);
    EXPECT_FALSE(start_due()) << "it waits in one place only";
    resume(inbound, expected.outcome);
    EXPECT_EQ(quarantine_state(), expected.state);
    for (const char* table : {"inbox", "inbox_outcome", "inbox_body", "quarantine", "attempt"}) {
      under_->reader().run("DELETE FROM " + under_->table(table));
    }
  }
}

TEST_P(Waiting, MessageThatFailsForAnotherReasonLeavesOneRowParked) {
  const Inbound inbound(declaration_, {Message{}});
  apply(inbound, [](const Envelope&, Transaction&) -> Outcome { return Failed{"one"}; });
  send_again_with_key();
  ASSERT_TRUE(start_due());
  resume(inbound, Failed{"two"});
  EXPECT_EQ(under_->reader().value("SELECT state FROM " + under_->table("quarantine") + " WHERE reason = 'one'"),
            "resolved");
  EXPECT_EQ(under_->reader().value("SELECT state FROM " + under_->table("quarantine") + " WHERE reason = 'two'"),
            "parked");
}

// Where two units may be open at once.
class WaitingForTwo : public Waiting {};
INSTANTIATE_TEST_SUITE_P(Store, WaitingForTwo,
                         testing::ValuesIn(fixtures::backends_that(&Capabilities::concurrent_units)), backend_name);

TEST_P(WaitingForTwo, MessageThatAnotherHoldsIsSkipped) {
  let_wait(inbound_);
  auto other = under_->open();
  auto holder = other->begin(enrolled_);
  ASSERT_TRUE(resumes(*holder, inbound_));
  EXPECT_FALSE(resumes(*begin(), inbound_));
  EXPECT_FALSE(start_due()) << "due, and held";
  const Inbound second(declaration_, {{.id = "b"}});
  let_wait(second);
  EXPECT_EQ(start_due()->envelope, second.envelope(0)) << "the next one is not";
  holder.reset();
  EXPECT_TRUE(start_due());
}

TEST_P(WaitingForTwo, TwoThatStartAtOnceGetTwoMessages) {
  let_wait(inbound_);
  const Inbound second(declaration_, {{.id = "b"}});
  let_wait(second);
  park_and_send_again(envelope_of({.id = "refused"}));
  auto other = under_->open();
  auto one = begin();
  auto two = other->begin(enrolled_);
  const auto first_kept = one->start_due(1h);
  const auto second_kept = two->start_due(1h);
  ASSERT_TRUE(first_kept && second_kept);
  EXPECT_FALSE(first_kept->envelope == second_kept->envelope);
}

}  // namespace
}  // namespace onceward
