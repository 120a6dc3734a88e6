// What a row of the quarantine tells, and what parking the same message again does to it.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

class Quarantine : public OnEveryStore {
 protected:
  std::string value(const std::string& column) {
    return under_->reader().value("SELECT " + column + " FROM " + under_->table("quarantine"));
  }
  void park(const std::string& detail) {
    auto unit = begin();
    unit->park(envelope_, "malformed", detail);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  void set_state(const std::string& state) {
    under_->reader().run("UPDATE " + under_->table("quarantine") + " SET state = '" + state +
                         "', parked_at = " + (GetParam().capabilities.typed_columns ? "'1999-01-01'" : "1"));
  }
  std::string long_ago() {
    return GetParam().capabilities.typed_columns ? "parked_at < '2000-01-01'" : "parked_at = 1";
  }

  Envelope envelope_ = envelope_of({.id = "bad", .payload = "{"});
};
ONCEWARD_ON_EVERY_STORE(Quarantine);

TEST_P(Quarantine, MessageThatFailedForGoodIsThereWithItsKeyItsAttemptsAndItsError) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}});
  auto unit = begin();
  unit->count(inbound.claimants()[0].key, Attempt::failure, "threw");
  ASSERT_EQ(unit->commit(), Commit::committed);
  unit = begin();
  unit->claim(inbound.claimants());
  unit->count(inbound.claimants()[0].key, Attempt::failure, "threw");
  unit->finish(0, Failed{"threw", "std::out_of_range: vector"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(value("reason"), "threw");
  EXPECT_EQ(value("detail"), "std::out_of_range: vector");
  EXPECT_EQ(value("attempts"), "2");
  EXPECT_EQ(value("state"), "parked");
  EXPECT_EQ(under_->reader().number("SELECT count(*) FROM " + under_->table("quarantine") + " q JOIN " +
                                    under_->table("inbox") + " i ON i.key = q.key WHERE i.id = 'a'"),
            1);
}

TEST_P(Quarantine, SeveralThatFailAtOnceHaveTheirOwnKeysAndAttempts) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}, {.id = "c"}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  for (std::size_t index = 0; index < 3; ++index) {
    for (std::size_t count = 0; count < index; ++count) {
      unit->count(inbound.claimants()[index].key, Attempt::failure, "");
    }
    unit->finish(index, Failed{"threw"});
  }
  unit->park(envelope_, "malformed", "");
  ASSERT_EQ(unit->commit(), Commit::committed);
  const auto rows =
      under_->reader().read("SELECT q.id, q.attempts, i.id FROM " + under_->table("quarantine") + " q LEFT JOIN " +
                            under_->table("inbox") + " i ON i.key = q.key ORDER BY q.id");
  EXPECT_EQ(rows, (TextRows{{"a", "0", "a"}, {"b", "1", "b"}, {"bad", "0", std::nullopt}, {"c", "2", "c"}}));
}

TEST_P(Quarantine, LongErrorIsCutBetweenTwoCharacters) {
  std::string detail(999, 'x');
  detail += "\u00e9 and more";
  park(detail);
  EXPECT_EQ(value("detail"), std::string(999, 'x'));
}

TEST_P(Quarantine, MessageWhoseIdentityOrOperationIsAnothersHasNoKey) {
  declaration_ = consumer_with_operation("capturing");
  enrolled_ = store_->enroll(declaration_);
  apply(Inbound(declaration_, {{.id = "a", .idempotency_key = "capture 1"}}));
  const Inbound other(declaration_, {{.id = "b", .payload = "other", .idempotency_key = "capture 1"}});
  apply(other);
  auto unit = begin();
  const Inbound conflict(declaration_, {{.id = "a", .payload = "other", .idempotency_key = "capture 2"}});
  unit->park(conflict.claimants()[0], "conflict", "");
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("quarantine"), 2);
  EXPECT_EQ(under_->reader().number("SELECT count(key) FROM " + under_->table("quarantine")), 0);
}

TEST_P(Quarantine, ParkedAgainWhileItIsParkedChangesNothing) {
  park("first");
  set_state("parked");
  park("second");
  EXPECT_EQ(value("detail"), "first");
  EXPECT_EQ(under_->reader().number("SELECT count(*) FROM " + under_->table("quarantine") + " WHERE " + long_ago()), 1);
}

TEST_P(Quarantine, MessagesWithoutAnIdAreRowsOfTheirOwnWhereverTheyDiffer) {
  for (const int deliveries : {1, 2}) {
    std::vector<Envelope> envelopes;
    for (const char* const aggregate : {"1", "2", "3"}) {
      EnvelopeFields fields;
      fields.aggregate_id = AggregateId(aggregate);
      fields.payload = "{}";
      envelopes.push_back(Envelope::copy_of(fields));
    }
    auto unit = begin();
    for (const Envelope& envelope : envelopes) unit->park(envelope, "missing_message_id", "");
    ASSERT_EQ(unit->commit(), Commit::committed);
    EXPECT_EQ(under_->rows_in("quarantine"), 3) << "delivered " << deliveries << " times";
  }
}

TEST_P(Quarantine, ParkedAgainAfterSomebodyDealtWithItIsParkedAnew) {
  for (const std::string state : {"retrying", "resolved", "discarded"}) {
    park("first");
    set_state(state);
    park("after it was " + state);
    EXPECT_EQ(under_->rows_in("quarantine"), 1);
    EXPECT_EQ(value("state"), "parked");
    EXPECT_EQ(value("detail"), "after it was " + state);
    EXPECT_EQ(under_->reader().number("SELECT count(*) FROM " + under_->table("quarantine") + " WHERE " + long_ago()),
              0);
  }
}

TEST_P(Quarantine, ParkedAgainWithoutAKeyKeepsTheKeyThatItHas) {
  const Inbound inbound(declaration_, {Message{}});
  apply(inbound, [](const Envelope&, Transaction&) -> Outcome { return Failed{"never"}; });
  set_state("discarded");
  auto unit = begin();
  unit->park(inbound.claimants()[0], "never", "");
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("quarantine"), 1);
  EXPECT_EQ(under_->reader().number("SELECT count(key) FROM " + under_->table("quarantine")), 1);
}

// A consumer whose dead letters leave through the outbox.
class DeadLettersOf : public Quarantine {
 protected:
  void SetUp() override {
    declaration_.dead_letters = true;
    enrolled_ = store_->enroll(declaration_);
  }
  TextRows outbox() {
    return under_->reader().read("SELECT id, type, content_type FROM " + under_->table("outbox") +
                                 " ORDER BY position");
  }
  static std::vector<std::optional<std::string>> letter(const std::string& id) {
    return {id, "onceward.dead_letter.billing", "application/vnd.onceward.dead-letter"};
  }
};
ONCEWARD_ON_EVERY_STORE(DeadLettersOf);

TEST_P(DeadLettersOf, WhateverIsParkedAreStagedWithItBehindWhatWasStaged) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  unit->on(0).stage(Outgoing{.type = "paid", .key = "k", .payload = "{}", .id = "own"});
  unit->finish(1, Failed{"threw"});
  unit->park(envelope_, "malformed", "");
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(outbox(), (TextRows{{"own", "paid", "application/json"}, letter("bad"), letter("b")}));
}

TEST_P(DeadLettersOf, AMessageThatWaitedAreStagedWhenItsBudgetIsUsedUp) {
  const Inbound inbound(declaration_, {{.id = "a"}});
  apply(inbound, [](const Envelope&, Transaction&) -> Outcome { return Retry{"later"}; });
  EXPECT_EQ(outbox(), TextRows{});
  auto unit = begin();
  unit->resume(inbound.claimants());
  ASSERT_TRUE(unit->first(0));
  unit->finish(0, Failed{"attempts_exhausted"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(outbox(), (TextRows{letter("a")}));
}

TEST_P(DeadLettersOf, AUnitThatIsAbandonedAreNone) {
  begin()->park(envelope_, "malformed", "");
  EXPECT_EQ(outbox(), TextRows{});
}

TEST_P(Quarantine, ConsumerWithoutDeadLettersStagesNone) {
  park("first");
  EXPECT_EQ(under_->rows_in("outbox"), 0);
}

}  // namespace
}  // namespace onceward
