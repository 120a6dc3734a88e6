#include "src/records/action.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/records/doubtful_store.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

constexpr const char* claimed_key = "80000000-0000-4000-8000-00000000000a";

class Actions : public OnEveryStore {
 protected:
  Command command(Action action, const QuarantineFilter& filter = {}) {
    return {action, filter, preview(*store_, filter).highest, "anna", "fixed the parser", 500};
  }
  Progress carry_out(Action action, const QuarantineFilter& filter = {}) {
    return records::carry_out(*store_, command(action, filter));
  }
  std::int64_t audited() { return under_->rows_in("audit"); }
  std::int64_t in_state(const std::string& state) {
    return reader().number(fmt::format("SELECT count(*) FROM {} WHERE state = '{}'", table("quarantine"), state));
  }
  TextRow outcome(const std::string& key) {
    return reader()
        .read(fmt::format("SELECT state, next_attempt_at FROM {} WHERE key = {}", table("inbox_outcome"),
                          key_literal(key)))
        .at(0);
  }
};

TEST_P(Actions, RetryOfAClaimedMessageMakesItDueWithAllItsAttempts) {
  put_outcome(claimed_key, State::quarantined);
  const auto number = park({.key = claimed_key});
  EXPECT_EQ(carry_out(Action::retry).changed, 1);
  EXPECT_EQ(parked_state(number), "retrying");
  EXPECT_EQ(outcome(claimed_key)[0], "5");
  EXPECT_TRUE(outcome(claimed_key)[1]) << "it has a next attempt";
  const auto backlog =
      reader().number(fmt::format("SELECT count(*) FROM {} WHERE next_attempt_at <= {}", table("inbox_outcome"),
                                  postgres() ? "now()" : "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"));
  EXPECT_EQ(backlog, 1) << "which is now";
  EXPECT_EQ(
      reader().value(fmt::format("SELECT kind FROM {} WHERE key = {}", table("attempt"), key_literal(claimed_key))),
      "reset");
}

TEST_P(Actions, RetryOfAMessageThatWasNeverClaimedIsDueByItself) {
  const auto number = park({});
  EXPECT_EQ(carry_out(Action::retry).changed, 1);
  EXPECT_EQ(parked_state(number), "retrying");
  EXPECT_TRUE(read_parked(*store_, number)->retry_at);
  EXPECT_EQ(read_parked(*store_, number)->attempts, 0) << "it has all its attempts again";
  EXPECT_EQ(under_->rows_in("attempt"), 0);
}

TEST_P(Actions, DiscardLeavesTheRowAsEvidenceAndTheInboxAsItIs) {
  put_outcome(claimed_key, State::quarantined);
  const auto number = park({.key = claimed_key});
  EXPECT_EQ(carry_out(Action::discard).changed, 1);
  EXPECT_EQ(parked_state(number), "discarded");
  EXPECT_EQ(read_parked_body(*store_, number)->payload, "secret");
  EXPECT_EQ(outcome(claimed_key)[0], "6");
  EXPECT_FALSE(outcome(claimed_key)[1]);
  EXPECT_EQ(under_->rows_in("attempt"), 0);
}

TEST_P(Actions, OnlyWhatIsParkedIsTouched) {
  std::vector<std::int64_t> others;
  for (const char* state : {"retrying", "resolved", "discarded"}) others.push_back(park({.id = state, .state = state}));
  for (const Action action : {Action::retry, Action::discard}) {
    Command all = command(action, {.numbers = others});
    all.highest = others.back();
    EXPECT_EQ(records::carry_out(*store_, all).changed, 0);
  }
  EXPECT_EQ(parked_state(others[0]), "retrying");
  EXPECT_EQ(parked_state(others[1]), "resolved");
  EXPECT_EQ(parked_state(others[2]), "discarded");
  EXPECT_EQ(audited(), 0);
}

// The key of a conflict belongs to the message that was applied: sending it again must not undo that.
TEST_P(Actions, AMessageWhoseInboxRowSaysOtherwiseIsNotSentAgain) {
  put_outcome(claimed_key, State::rejected);
  const auto number = park({.key = claimed_key});
  EXPECT_EQ(carry_out(Action::retry).changed, 0);
  EXPECT_EQ(parked_state(number), "parked");
  EXPECT_EQ(outcome(claimed_key)[0], "9");
  EXPECT_EQ(carry_out(Action::discard).changed, 1);
}

TEST_P(Actions, ThePreviewCountsAndShowsTheFirstTen) {
  park({.reason = "conflict", .id = "other"});
  std::int64_t last = 0;
  for (int i = 0; i < 12; ++i) last = park({.id = fmt::format("m{}", i)});
  park({.id = "gone", .state = "resolved"});
  const Preview seen = preview(*store_, {.reason = "bad_field"});
  EXPECT_EQ(seen.matching, 13);
  EXPECT_EQ(seen.eligible, 12);
  EXPECT_EQ(seen.highest, last);
  ASSERT_EQ(seen.first.size(), 10u);
  EXPECT_EQ(seen.first[0].id, "m0");
  EXPECT_EQ(in_state("parked"), 13) << "a preview changes nothing";
}

TEST_P(Actions, WhatWasParkedAfterThePreviewIsLeftAlone) {
  const auto before = park({.id = "before"});
  const Command confirmed = command(Action::discard);
  const auto after = park({.id = "after"});
  EXPECT_EQ(records::carry_out(*store_, confirmed).changed, 1);
  EXPECT_EQ(parked_state(before), "discarded");
  EXPECT_EQ(parked_state(after), "parked");
}

TEST_P(Actions, ByNumberOrByFilterTheRestIsLeftAlone) {
  const auto a = park({.id = "a"}), b = park({.reason = "conflict", .id = "b"}), c = park({.id = "c"});
  EXPECT_EQ(carry_out(Action::discard, {.numbers = {a}}).changed, 1);
  EXPECT_EQ(carry_out(Action::retry, {.reason = "conflict"}).changed, 1);
  EXPECT_EQ(parked_state(a), "discarded");
  EXPECT_EQ(parked_state(b), "retrying");
  EXPECT_EQ(parked_state(c), "parked");
}

TEST_P(Actions, EachStepHasOneAuditRowThatSaysWhoAndWhyAndWhichRows) {
  park_many(5);
  Command bulk = command(Action::discard, {.reason = "bad_field"});
  bulk.rows_of_a_step = 2;
  const Progress progress = records::carry_out(*store_, bulk);
  EXPECT_EQ(progress.changed, 5);
  EXPECT_EQ(progress.steps, 3);
  const TextRows audit =
      reader().read("SELECT who, action, reason, object, detail FROM " + table("audit") + " ORDER BY number");
  ASSERT_EQ(audit.size(), 3u);
  std::set<std::int64_t> numbers;
  std::set<std::string> operations;
  for (const TextRow& row : audit) {
    EXPECT_EQ(row[0], "anna");
    EXPECT_EQ(row[1], "quarantine.discard");
    EXPECT_EQ(row[2], "fixed the parser");
    const auto detail = nlohmann::json::parse(*row[4]);
    EXPECT_EQ(detail.at("filter").at("reason"), "bad_field");
    EXPECT_EQ(detail.at("changed"), detail.at("numbers").size());
    operations.insert(detail.at("operation").get<std::string>());
    for (const auto& number : detail.at("numbers")) EXPECT_TRUE(numbers.insert(number.get<std::int64_t>()).second);
  }
  EXPECT_EQ(numbers.size(), 5u);
  EXPECT_EQ(operations.size(), 1u);
  EXPECT_EQ(audit[2][3], fmt::format("quarantine/{}", *numbers.rbegin()));
}

TEST_P(Actions, EndedHalfWayItLeavesWholeStepsAndTheSameAgainTakesTheRest) {
  park_many(5);
  Command bulk = command(Action::discard);
  bulk.rows_of_a_step = 2;
  const Progress half = records::carry_out(*store_, bulk, [](const Progress&) { return false; });
  EXPECT_EQ(half.changed, 2);
  EXPECT_EQ(in_state("discarded"), 2);
  EXPECT_EQ(audited(), 1);
  EXPECT_EQ(records::carry_out(*store_, bulk).changed, 3);
  EXPECT_EQ(in_state("discarded"), 5);
  EXPECT_EQ(audited(), 3);
}

// A worker may park a message anew while the command still runs: it is not sent again and again.
TEST_P(Actions, ARowThatIsParkedAgainMeanwhileIsMetOnce) {
  park_many(4);
  Command bulk = command(Action::retry);
  bulk.rows_of_a_step = 2;
  const Progress progress = records::carry_out(*store_, bulk, [&](const Progress& now) {
    reader().run("UPDATE " + table("quarantine") + " SET state = 'parked'");
    return now.steps < 10;
  });
  EXPECT_EQ(progress.changed, 4);
  EXPECT_EQ(progress.steps, 2);
}

TEST_P(Actions, AFailedStepLeavesNeitherAChangeNorAnAuditRow) {
  park_many(3);
  const Command all = command(Action::discard);
  without_audit([&] { EXPECT_EQ(fault_of([&] { records::carry_out(*store_, all); }), FaultCode::statement_failed); });
  EXPECT_EQ(in_state("parked"), 3);
  EXPECT_EQ(audited(), 0);
}

TEST_P(Actions, WithoutWhoOrWhyNothingIsDone) {
  park({});
  for (const auto& [who, why] : {std::pair<std::string, std::string>{"", "why"},
                                 {"anna", " \n"},
                                 {std::string(256, 'a'), "why"},
                                 {"anna", std::string(1001, 'a')},
                                 {"anna", std::string("a\0b", 3)},
                                 {"ann\xff", "why"}}) {
    Command command = this->command(Action::discard);
    command.who = who;
    command.why = why;
    EXPECT_THROW(records::carry_out(*store_, command), std::invalid_argument);
  }
  EXPECT_EQ(in_state("parked"), 1);
}

// A commit that was not answered is counted if it landed, and run again if not: the counts are those of the tables.
TEST_P(Actions, AStepInDoubtIsCountedOnceWhetherItLandedOrNot) {
  for (const bool lands : {true, false}) {
    park_many(3);
    DoubtfulStore doubtful(*store_, lands);
    Command bulk = command(Action::discard);
    bulk.rows_of_a_step = 2;
    const auto before = audited();
    const Progress progress = records::carry_out(doubtful, bulk);
    EXPECT_EQ(doubtful.doubts, 1);
    EXPECT_EQ(progress.changed, 3) << lands;
    EXPECT_EQ(progress.steps, 2) << lands;
    EXPECT_EQ(audited() - before, 2) << lands;
    EXPECT_EQ(in_state("parked"), 0);
  }
}

TEST_P(Actions, TwoAtOnceChangeEachRowOnce) {
  park_many(40);
  Command bulk = command(Action::discard);
  bulk.rows_of_a_step = 3;
  const auto other = under_->open();
  Progress theirs;
  std::thread thread([&] { theirs = records::carry_out(*other, bulk); });
  const Progress ours = records::carry_out(*store_, bulk);
  thread.join();
  EXPECT_EQ(ours.changed + theirs.changed, 40);
  EXPECT_EQ(audited(), ours.steps + theirs.steps);
}

ONCEWARD_ON_EVERY_STORE(Actions);

}  // namespace
}  // namespace onceward::records
