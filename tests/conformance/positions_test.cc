// A consumer whose offsets the store keeps: a position is passed once, with its effect, by whoever has its stream.
#include <gmock/gmock.h>

#include <thread>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using enum Verdict;
using testing::ElementsAre;

class Positions : public OnEveryStore {
 protected:
  Positions() {
    declaration_ = consumer_by_position("placed");
    enrolled_ = store_->enroll(declaration_);
  }

  static TakenOver take_over(Store& store, const Enrolled& enrolled, const std::string& name = "payments/0") {
    auto unit = store.begin(enrolled);
    const TakenOver taken = unit->take_over(std::array{name}).front();
    EXPECT_EQ(unit->commit(), Commit::committed);
    return taken;
  }
  std::shared_ptr<const Stream> begin_stream(const Stream& stream, std::int64_t next) {
    auto unit = begin();
    auto begun = std::make_shared<const Stream>(unit->begin_stream(stream, next));
    EXPECT_EQ(unit->commit(), Commit::committed);
    return begun;
  }
  // Ours, and begun at 5.
  std::shared_ptr<const Stream> taken(const std::string& name = "payments/0") {
    return begin_stream(take_over(*store_, enrolled_, name).stream, 5);
  }
  std::shared_ptr<const Stream> taken_again(const std::string& name = "payments/0") {
    return std::make_shared<const Stream>(take_over(*store_, enrolled_, name).stream);
  }
  // Each after the one before it, with its offset for an id.
  static std::vector<Message> at(const std::shared_ptr<const Stream>& stream, std::vector<std::int64_t> offsets) {
    std::vector<Message> messages;
    for (const std::int64_t offset : offsets) {
      messages.push_back({.id = std::to_string(offset), .position = Position{stream, offset, offset}});
    }
    return messages;
  }
  Verdicts apply_at(const std::shared_ptr<const Stream>& stream, std::vector<std::int64_t> offsets) {
    const Inbound inbound(declaration_, at(stream, std::move(offsets)));
    return verdicts(apply(inbound));
  }
  static Traces with_effects(std::int64_t effects) {
    Traces traces{};
    traces.effects = effects;
    return traces;
  }
  std::int64_t next(const std::string& name = "payments/0") {
    return under_->reader().number("SELECT next FROM " + under_->table("position") + " WHERE consumer = " +
                                   std::to_string(enrolled_.number) + " AND stream = '" + name + "'");
  }
};
ONCEWARD_ON_EVERY_STORE(Positions);

TEST_P(Positions, StreamHasANextEpochForEveryoneWhoTakesItOver) {
  const TakenOver first_time = take_over(*store_, enrolled_);
  EXPECT_EQ(first_time.stream.name, "payments/0");
  EXPECT_EQ(first_time.next, std::nullopt) << "it has not begun";
  const auto begun = begin_stream(first_time.stream, 5);
  EXPECT_GT(begun->epoch, first_time.stream.epoch);
  const TakenOver second_time = take_over(*store_, enrolled_);
  EXPECT_GT(second_time.stream.epoch, begun->epoch);
  EXPECT_EQ(second_time.stream.begun, begun->begun);
  EXPECT_EQ(second_time.next, 5);
}

TEST_P(Positions, SeveralAreTakenOverInTheOrderAsked) {
  auto unit = begin();
  const auto all = unit->take_over(std::array<std::string, 3>{"b/1", "a/7", "a/10"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].stream.name + all[1].stream.name + all[2].stream.name, "b/1a/7a/10");
}

TEST_P(Positions, StreamsOfOtherConsumersAreOthers) {
  taken();
  const Enrolled other = store_->enroll(consumer_by_position("other"));
  EXPECT_EQ(take_over(*store_, other).next, std::nullopt);
  EXPECT_EQ(next(), 5);
}

TEST_P(Positions, PositionIsPassedOnceAndLeavesNoRow) {
  const auto stream = taken();
  EXPECT_EQ(apply_at(stream, {5, 6, 7}), (Verdicts{first, first, first}));
  EXPECT_EQ(apply_at(stream, {5, 6, 7, 8}), (Verdicts{duplicate, duplicate, duplicate, first}));
  EXPECT_EQ(next(), 9);
  EXPECT_EQ(traces(), with_effects(4));
}

// What the producer is trusted not to do.
TEST_P(Positions, SameIdAtTwoPositionsIsAppliedTwice) {
  const auto stream = taken();
  std::vector<Message> messages = at(stream, {5, 6});
  messages[1].id = messages[0].id;
  messages[1].payload = "other";
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, messages))), (Verdicts{first, first}));
  EXPECT_EQ(under_->effects(), 2);
}

TEST_P(Positions, SamePositionTwiceInABatchIsAppliedOnce) {
  const auto stream = taken();
  EXPECT_EQ(apply_at(stream, {5, 6, 5}), (Verdicts{first, first, duplicate}));
  EXPECT_EQ(under_->effects(), 2);
}

TEST_P(Positions, UnitThatIsUndoneMovesNothing) {
  const auto stream = taken();
  {
    const Inbound inbound(declaration_, at(stream, {5, 6}));
    auto unit = begin();
    run_handlers(*unit, inbound);
    unit->flush();
  }
  EXPECT_EQ(next(), 5);
  EXPECT_EQ(traces(), nothing);
  EXPECT_EQ(apply_at(stream, {5, 6}), (Verdicts{first, first}));
}

TEST_P(Positions, UnitThatWentBackToItsMarkMovesWithWhatItDidInTheEnd) {
  const auto stream = taken();
  const Inbound inbound(declaration_, at(stream, {5, 6}));
  auto unit = begin();
  unit->claim(inbound.claimants());
  unit->mark();
  insert_effect(inbound.envelope(0), unit->on(0));
  unit->finish(1, Failed{"never"});
  unit->flush();
  unit->back_to_mark();
  for (const std::size_t index : {0u, 1u}) insert_effect(inbound.envelope(index), unit->on(index));
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(next(), 7);
  EXPECT_EQ(traces(), with_effects(2));
}

TEST_P(Positions, WhoeverHadTheStreamBeforeIsFenced) {
  const auto old = taken();
  apply_at(old, {5});
  const auto current = taken_again();
  EXPECT_EQ(apply_at(old, {5, 6, 7}), (Verdicts{fenced, fenced, fenced}));
  EXPECT_EQ(next(), 6);
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(apply_at(current, {6, 7}), (Verdicts{first, first}));
}

TEST_P(Positions, OnlyTheStreamThatWasTakenOverIsFenced) {
  const auto lost = taken("payments/0"), kept = taken("payments/1");
  const auto current = taken_again("payments/0");
  std::vector<Message> messages;
  for (const auto& stream : {lost, kept, current}) {
    for (Message& message : at(stream, {5, 6})) messages.push_back(std::move(message));
  }
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, messages))), (Verdicts{fenced, fenced, first, first, first, first}));
  EXPECT_EQ(next("payments/0"), 7);
  EXPECT_EQ(next("payments/1"), 7);
  EXPECT_EQ(under_->effects(), 4);
}

TEST_P(Positions, StreamThatNobodyTookOverIsFenced) {
  EXPECT_EQ(apply_at(std::make_shared<const Stream>(Stream{"payments/9", 1, 1}), {5}), (Verdicts{fenced}));
}

// Else its commit would pass what the new owner is about to apply.
TEST_P(Positions, TakingOverWaitsForTheUnitThatHoldsTheStream) {
  const auto old = taken();
  const Inbound inbound(declaration_, at(old, {5, 6}));
  auto unit = begin();
  run_handlers(*unit, inbound);
  std::optional<TakenOver> theirs;
  std::jthread other([&] {
    const auto store = under_->open();
    theirs = take_over(*store, enrolled_);
  });
  under_->await_waiter();
  ASSERT_EQ(unit->commit(), Commit::committed);
  unit.reset();
  other.join();
  EXPECT_EQ(theirs->next, 7);
}

TEST_P(Positions, MessageNeverPassesOneThatIsNotApplied) {
  const auto stream = taken();
  EXPECT_EQ(apply_at(stream, {6}), (Verdicts{fenced}));
  EXPECT_EQ(next(), 5);
  EXPECT_EQ(under_->effects(), 0);
  EXPECT_EQ(apply_at(stream, {5, 7}), (Verdicts{first, fenced}));
  EXPECT_EQ(next(), 6);
  EXPECT_EQ(under_->effects(), 1);
}

// Compaction and the brokers' own marks leave gaps, and a source knows them.
TEST_P(Positions, WhatWasNeverThereNeedNotBePassed) {
  const auto stream = taken();
  const std::vector<Message> messages{{.id = "a", .position = Position{stream, 9, 5}},
                                      {.id = "b", .position = Position{stream, 12, 10}}};
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, messages))), (Verdicts{first, first}));
  EXPECT_EQ(next(), 13);
}

TEST_P(Positions, OutcomeThatIsNotPlainHasItsRowAndIsPassed) {
  const auto stream = taken();
  const Inbound inbound(declaration_, at(stream, {5, 6, 7, 8}));
  auto unit = begin();
  unit->claim(inbound.claimants());
  unit->finish(0, Rejected{"too_late"});
  unit->finish(1, Done{"receipt"});
  unit->finish(2, Failed{"never"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(next(), 9);
  const Traces left = traces();
  EXPECT_EQ(left.inbox, 3);
  EXPECT_EQ(left.outcomes, 3);
  EXPECT_EQ(left.bodies, 1);
  EXPECT_EQ(left.quarantine, 1);
  unit.reset();
  EXPECT_EQ(apply_at(stream, {5, 6, 7, 8}), (Verdicts{duplicate, duplicate, duplicate, duplicate}));
}

TEST_P(Positions, MessageThatWaitsIsResumedByItsKey) {
  const auto stream = taken();
  const Inbound inbound(declaration_, at(stream, {5}));
  auto unit = begin();
  unit->claim(inbound.claimants());
  unit->finish(0, Retry{"later", std::chrono::milliseconds(0)});
  unit->count(inbound.claimants()[0].key, Attempt::failure, "later");
  ASSERT_EQ(unit->commit(), Commit::committed);
  unit = nullptr;
  unit = begin();
  const std::vector<Kept> kept = unit->take_due(10, std::chrono::seconds(60));
  ASSERT_EQ(unit->commit(), Commit::committed);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].key, inbound.claimants()[0].key);
  EXPECT_EQ(kept[0].attempts, 1);
  Claimant again = inbound.claimants()[0];
  again.position = nullptr;  // an envelope does not know it
  again.id = IdText("what its declaration now says");
  unit = nullptr;
  unit = begin();
  unit->resume({&again, 1});
  ASSERT_TRUE(unit->first(0));
  insert_effect(inbound.envelope(0), unit->on(0));
  ASSERT_EQ(unit->commit(), Commit::committed);
  unit = nullptr;
  Traces left = with_effects(1);
  left.inbox = 1;
  EXPECT_EQ(traces(), left);
  unit = begin();
  unit->resume({&again, 1});
  EXPECT_EQ(verdicts(unit->answers()), Verdicts{duplicate}) << "the store kept it under this key: nothing to compare";
}

TEST_P(Positions, SameMessageThatFailsAtTwoPositionsIsParkedTwice) {
  const auto stream = taken();
  std::vector<Message> messages = at(stream, {5, 6});
  messages[1].id = messages[0].id;
  const Inbound inbound(declaration_, messages);
  auto unit = begin();
  unit->claim(inbound.claimants());
  for (const std::size_t index : {0u, 1u}) unit->finish(index, Failed{"never"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(under_->rows_in("quarantine"), 2);
}

// A topic that was made anew has other messages at the same offsets.
TEST_P(Positions, StreamThatBeginsAnewHasOtherKeys) {
  const auto old = taken();
  const auto reject = [](const Envelope&, Transaction&) { return Rejected{"no"}; };
  apply(Inbound(declaration_, at(old, {5})), reject);
  const auto anew = begin_stream(*old, 5);
  EXPECT_EQ(verdicts(apply(Inbound(declaration_, at(anew, {5})), reject)), Verdicts{first});
  EXPECT_EQ(under_->rows_in("inbox"), 2);
  EXPECT_EQ(apply_at(old, {6}), Verdicts{fenced});
}

TEST_P(Positions, StreamIsBegunOnlyByWhoeverHasIt) {
  const auto old = taken();
  taken_again();
  EXPECT_EQ(fault_of([&] { begin()->begin_stream(*old, 0); }), FaultCode::lost_race);
  EXPECT_EQ(next(), 5);
}

TEST_P(Positions, ClaimsAndStreamsOfTheWrongKindAreRefused) {
  const Inbound without(declaration_, {Message{}});
  EXPECT_EQ(fault_of([&] { apply(without); }), FaultCode::statement_failed);
  const Enrolled by_id = store_->enroll(consumer());
  EXPECT_EQ(fault_of([&] { store_->begin(by_id)->take_over(std::array<std::string, 1>{"payments/0"}); }),
            FaultCode::statement_failed);
}

TEST_P(Positions, ConsumerCannotChangeWhoKeepsItsOffsets) {
  EXPECT_EQ(fault_of([&] { store_->enroll(consumer("placed")); }), FaultCode::scheme_changed);
  store_->enroll(consumer("by_id"));
  EXPECT_EQ(fault_of([&] { store_->enroll(consumer_by_position("by_id")); }), FaultCode::scheme_changed);
}

TEST_P(Positions, BatchTakesTwoRoundTripsAndOneTransaction) {
  const auto stream = taken();
  const Inbound inbound(declaration_, at(stream, {5, 6, 7}));
  const StoreCounters before = store_->counters();
  auto unit = begin();
  unit->claim(inbound.claimants());
  for (std::size_t index = 0; index < inbound.size(); ++index) insert_effect(inbound.envelope(index), unit->on(index));
  ASSERT_EQ(unit->commit(), Commit::committed);
  const StoreCounters after = store_->counters();
  EXPECT_LE(after.round_trips - before.round_trips, 2u);
  EXPECT_EQ(after.transactions - before.transactions, 1u);
}

TEST_P(Positions, BatchThatGoesOnWhereTheLastOneEndedTakesOneRoundTrip) {
  const auto stream = taken();
  apply_at(stream, {5, 6, 7});
  const StoreCounters before = store_->counters();
  EXPECT_EQ(apply_at(stream, {8, 9}), (Verdicts{first, first}));
  EXPECT_LE(store_->counters().round_trips - before.round_trips, 1u);
  EXPECT_EQ(next(), 10);
}

// It goes on from what it remembers, runs its handlers, and only then finds that somebody else has the stream, or has moved it.
TEST_P(Positions, WhoGoesOnFromMemoryIsFencedByTheCommit) {
  const auto old = taken();
  apply_at(old, {5});
  const auto elsewhere = under_->open();
  const auto current = std::make_shared<const Stream>(take_over(*elsewhere, enrolled_).stream);
  EXPECT_EQ(apply_at(old, {6, 7}), (Verdicts{fenced, fenced}));
  EXPECT_EQ(next(), 6);
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(apply_at(current, {6, 7}), (Verdicts{first, first}));
  EXPECT_EQ(under_->effects(), 3);
}

TEST_P(Positions, MemoryThatIsWrongAppliesNothingTwice) {
  const auto stream = taken();
  apply_at(stream, {5});
  const auto elsewhere = under_->open();
  const Inbound same(declaration_, at(stream, {6, 7}));
  EXPECT_EQ(verdicts(fixtures::apply(*elsewhere, enrolled_, same)), (Verdicts{first, first}));
  EXPECT_EQ(apply_at(stream, {6, 7, 8}), (Verdicts{duplicate, duplicate, first}));
  EXPECT_EQ(next(), 9);
  EXPECT_EQ(under_->effects(), 4);
}

TEST_P(Positions, WhatWasUndoneIsNotRemembered) {
  const auto stream = taken();
  apply_at(stream, {5});
  {
    const Inbound inbound(declaration_, at(stream, {6}));
    auto unit = begin();
    run_handlers(*unit, inbound);
    unit->flush();
  }
  EXPECT_EQ(apply_at(stream, {6}), (Verdicts{first}));
  EXPECT_EQ(next(), 7);
}

}  // namespace
}  // namespace onceward
