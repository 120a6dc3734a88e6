// What a claim answers.
#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using enum Verdict;

class Claims : public OnEveryStore {};
ONCEWARD_ON_EVERY_STORE(Claims);

TEST_P(Claims, SecondDeliveryIsADuplicateAndNotApplied) {
  const Inbound inbound(declaration_, {Message{}});
  EXPECT_EQ(verdicts(apply(inbound)), Verdicts{first});
  EXPECT_EQ(verdicts(apply(inbound)), Verdicts{duplicate});
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(under_->rows_in("inbox"), 1);
}

TEST_P(Claims, FirstIsKnownBeforeTheHandlerRuns) {
  const Inbound old(declaration_, {{.id = "old"}});
  apply(old);
  const Inbound inbound(declaration_, {{.id = "old"}, {.id = "new"}, {.id = "new"}});
  auto unit = begin();
  unit->claim(inbound.claimants());
  EXPECT_FALSE(unit->first(0));
  EXPECT_TRUE(unit->first(1));
  EXPECT_FALSE(unit->first(2));
}

TEST_P(Claims, AnswersAreTheSameBeforeAndAfterTheCommit) {
  apply(Inbound(declaration_, {{.id = "old"}}));
  const Inbound inbound(declaration_, {{.id = "new"}, {.id = "old"}, {.id = "old", .payload = "other"}, {.id = "new"}});
  auto unit = begin();
  run_handlers(*unit, inbound);
  const Verdicts before = verdicts(unit->answers());
  EXPECT_EQ(before, (Verdicts{first, duplicate, conflict, duplicate}));
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(verdicts(unit->answers()), before);
}

TEST_P(Claims, DuplicateIsAnsweredWithTheOutcomeOfTheFirst) {
  const std::vector<std::pair<Outcome, Recorded>> outcomes{
      {Done{}, {State::processed, "", "", std::nullopt}},
      {Done{"receipt 7 \xE2\x82\xAC"}, {State::processed, "", "receipt 7 \xE2\x82\xAC", std::nullopt}},
      {Done{std::string("bytes\0\xFF", 7)}, {State::processed, "", std::string("bytes\0\xFF", 7), std::nullopt}},
      {Ignored{"not_ours"}, {State::ignored, "not_ours", "", std::nullopt}},
      {Rejected{"too_late"}, {State::rejected, "too_late", "", std::nullopt}},
      {Failed{"cannot_parse"}, {State::quarantined, "cannot_parse", "", std::nullopt}},
  };
  std::vector<Message> messages;
  for (std::size_t index = 0; index < outcomes.size(); ++index) messages.push_back({.id = std::to_string(index)});
  const Inbound inbound(declaration_, messages);
  auto unit = begin();
  unit->claim(inbound.claimants());
  for (std::size_t index = 0; index < outcomes.size(); ++index) unit->finish(index, outcomes[index].first);
  ASSERT_EQ(unit->commit(), Commit::committed);
  unit.reset();

  const std::vector<Answer> answers = apply(inbound);
  for (std::size_t index = 0; index < outcomes.size(); ++index) {
    EXPECT_EQ(answers[index].verdict, duplicate);
    EXPECT_EQ(answers[index].recorded, outcomes[index].second);
  }
}

TEST_P(Claims, PlainSuccessKeepsNoOutcomeAndNoBody) {
  apply(Inbound(declaration_, {Message{}}));
  EXPECT_EQ(under_->rows_in("inbox_outcome"), 0);
  EXPECT_EQ(under_->rows_in("inbox_body"), 0);
}

TEST_P(Claims, RetryAndFailureKeepTheExactBytes) {
  const std::string payload = R"({"text":"€ 7",  "spaces": true})";
  const Inbound inbound(declaration_, {{.id = "retry", .payload = payload}, {.id = "failed", .payload = payload}});
  apply(inbound, [](const Envelope& envelope, Transaction&) -> Outcome {
    if (envelope.message_id().text() == "retry") return Retry{"later", std::chrono::milliseconds(10)};
    return Failed{"never"};
  });
  EXPECT_EQ(under_->rows_in("inbox_body"), 2);
  const std::string as_text = GetParam().capabilities.typed_columns ? "convert_from(payload, 'UTF8')" : "payload";
  EXPECT_EQ(under_->reader().value("SELECT DISTINCT " + as_text + " FROM " + under_->table("inbox_body")), payload);
}

TEST_P(Claims, MessageThatWaitsForItsRetryIsHeldAndNotAppliedAgain) {
  const Inbound inbound(declaration_, {Message{}});
  apply(inbound, [](const Envelope&, Transaction&) -> Outcome { return Retry{"gateway_busy"}; });
  const std::vector<Answer> answers = apply(inbound);
  EXPECT_EQ(verdicts(answers), Verdicts{held});
  ASSERT_TRUE(answers[0].recorded);
  EXPECT_EQ(answers[0].recorded->state, State::retryable_failed);
  EXPECT_EQ(answers[0].recorded->code, "gateway_busy");
  EXPECT_EQ(under_->effects(), 0);
}

TEST_P(Claims, SameIdWithOtherContentIsAConflictAndNotApplied) {
  apply(Inbound(declaration_, {{.payload = R"({"amount":1})"}}));
  const std::vector<Answer> answers = apply(Inbound(declaration_, {{.payload = R"({"amount":100})"}}));
  EXPECT_EQ(verdicts(answers), Verdicts{conflict});
  EXPECT_FALSE(answers[0].recorded) << "who sent the second learns nothing of the first";
  EXPECT_FALSE(answers[0].by_operation);
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Claims, RepeatsInsideOneBatchAreCompared) {
  const Inbound inbound(declaration_, {{.payload = "a"}, {.payload = "b"}, {.payload = "a"}});
  EXPECT_EQ(verdicts(apply(inbound)), (Verdicts{first, conflict, duplicate}));
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(under_->effects("note = 'a'"), 1);
  // And against the row that was there, each by itself.
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, {{.payload = "b"}, {.payload = "a"}, {.payload = "c"}}))),
            (Verdicts{conflict, duplicate, conflict}));
}

TEST_P(Claims, CopyInsideTheBatchCarriesTheOutcomeOfTheFirst) {
  const Inbound inbound(declaration_, {Message{}, Message{}});
  const auto answers = apply(inbound, [](const Envelope&, Transaction&) -> Outcome { return Done{"receipt 9"}; });
  EXPECT_EQ(verdicts(answers), (Verdicts{first, duplicate}));
  ASSERT_TRUE(answers[1].recorded);
  EXPECT_EQ(answers[1].recorded->result, "receipt 9");
}

TEST_P(Claims, OtherProducerTenantOrConsumerIsAnotherMessage) {
  const Inbound inbound(declaration_, {Message{}, {.producer = "till"}, {.tenant = "north"}, {.tenant = "south"}});
  EXPECT_EQ(verdicts(apply(inbound)), (Verdicts{first, first, first, first}));
  const Declaration shipping = consumer("shipping");
  const Enrolled other = store_->enroll(shipping);
  EXPECT_NE(other.number, enrolled_.number);
  EXPECT_EQ(verdicts(fixtures::apply(*store_, other, Inbound(shipping, {Message{}}))), Verdicts{first});
  EXPECT_EQ(under_->effects(), 5);
}

TEST_P(Claims, EmptyBatchIsCommitted) {
  EXPECT_TRUE(apply(Inbound(declaration_, std::vector<Message>{})).empty());
  EXPECT_EQ(traces(), nothing);
}

TEST_P(Claims, BatchOfThousandsIsClaimedAtOnce) {
  std::vector<Message> messages;
  for (int index = 0; index < 5000; ++index) messages.push_back({.id = "m" + std::to_string(index)});
  const Inbound inbound(declaration_, messages);
  const auto many = [](UnitOfWork& unit, const Inbound& batch) {
    unit.claim(batch.claimants());
    for (std::size_t index = 0; index < batch.size(); ++index) EXPECT_EQ(unit.first(index), unit.first(0));
  };
  auto unit = begin();
  many(*unit, inbound);
  EXPECT_TRUE(unit->first(0));
  ASSERT_EQ(unit->commit(), Commit::committed);
  unit = begin();
  many(*unit, inbound);
  EXPECT_FALSE(unit->first(0));
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(verdicts(unit->answers()), Verdicts(5000, duplicate));
  EXPECT_EQ(under_->rows_in("inbox"), 5000);
}

// Two uniqueness claims: the message's identity and the operation's.
class Operations : public OnEveryStore {
 protected:
  void SetUp() override {
    declaration_ = consumer_with_operation("capturing");
    enrolled_ = store_->enroll(declaration_);
  }
};
ONCEWARD_ON_EVERY_STORE(Operations);

TEST_P(Operations, SecondMessageOfAnOperationIsABusinessDuplicateThatPointsAtTheOriginal) {
  const Inbound original(declaration_, {{.id = "a", .idempotency_key = "capture 1"}});
  const Inbound repeat(declaration_, {{.id = "b", .idempotency_key = "capture 1"}});
  apply(original, [](const Envelope& envelope, Transaction& transaction) -> Outcome {
    insert_effect(envelope, transaction);
    return Done{"captured"};
  });
  const std::vector<Answer> answers = apply(repeat);
  EXPECT_EQ(verdicts(answers), Verdicts{duplicate});
  EXPECT_TRUE(answers[0].by_operation);
  ASSERT_TRUE(answers[0].recorded);
  EXPECT_EQ(answers[0].recorded->result, "captured");
  EXPECT_EQ(answers[0].recorded->original, original.claimants()[0].key);
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(under_->rows_in("inbox"), 2) << "the repeat has a row of its own";

  const std::vector<Answer> again = apply(repeat);
  EXPECT_EQ(verdicts(again), Verdicts{duplicate});
  ASSERT_TRUE(again[0].recorded);
  EXPECT_EQ(again[0].recorded->state, State::duplicate);
  EXPECT_EQ(again[0].recorded->original, original.claimants()[0].key);
}

TEST_P(Operations, OperationsRepeatedInsideOneBatchAreCompared) {
  const Inbound inbound(declaration_, {{.id = "a", .idempotency_key = "capture 1"},
                                       {.id = "b", .idempotency_key = "capture 1"},
                                       {.id = "c", .payload = "other", .idempotency_key = "capture 1"},
                                       {.id = "d", .idempotency_key = "capture 2"}});
  const std::vector<Answer> answers = apply(inbound);
  EXPECT_EQ(verdicts(answers), (Verdicts{first, duplicate, conflict, first}));
  EXPECT_TRUE(answers[1].by_operation);
  EXPECT_TRUE(answers[2].by_operation);
  EXPECT_EQ(under_->effects(), 2);
  EXPECT_EQ(under_->rows_in("operation"), 2);
}

TEST_P(Operations, OtherContentUnderAnOperationIsAConflictAndSurfaced) {
  apply(Inbound(declaration_, {{.id = "a", .idempotency_key = "capture 1"}}));
  const Inbound other(declaration_, {{.id = "b", .payload = "other", .idempotency_key = "capture 1"}});
  const std::vector<Answer> answers = apply(other);
  EXPECT_EQ(verdicts(answers), Verdicts{conflict});
  EXPECT_TRUE(answers[0].by_operation);
  EXPECT_FALSE(answers[0].recorded);
  EXPECT_EQ(under_->effects(), 1);
  const std::vector<Answer> again = apply(other);
  EXPECT_EQ(verdicts(again), Verdicts{duplicate}) << "it was refused before, and that is on record";
  ASSERT_TRUE(again[0].recorded);
  EXPECT_EQ(again[0].recorded->state, State::quarantined);
}

TEST_P(Operations, OperationIsUniqueAcrossProducersAndNotAcrossTenants) {
  const Inbound inbound(declaration_,
                        {{.id = "a", .producer = "shop", .idempotency_key = "capture 1"},
                         {.id = "a", .producer = "till", .idempotency_key = "capture 1"},
                         {.id = "a", .producer = "shop", .tenant = "north", .idempotency_key = "capture 1"}});
  EXPECT_EQ(verdicts(apply(inbound)), (Verdicts{first, duplicate, first}));
}

TEST_P(Operations, OperationOfAMessageThatIsHeldIsHeldToo) {
  apply(Inbound(declaration_, {{.id = "a", .idempotency_key = "capture 1"}}),
        [](const Envelope&, Transaction&) -> Outcome { return Retry{"later"}; });
  const std::vector<Answer> answers = apply(Inbound(declaration_, {{.id = "b", .idempotency_key = "capture 1"}}));
  EXPECT_EQ(verdicts(answers), Verdicts{held});
  EXPECT_TRUE(answers[0].by_operation);
  EXPECT_EQ(under_->effects(), 0);
}

TEST_P(Operations, AbandonedUnitFreesItsOperation) {
  const Inbound inbound(declaration_, {{.id = "a", .idempotency_key = "capture 1"}});
  {
    auto unit = begin();
    run_handlers(*unit, inbound);
  }
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, {{.id = "b", .idempotency_key = "capture 1"}}))), Verdicts{first});
}

}  // namespace
}  // namespace onceward
