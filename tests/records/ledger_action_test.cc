#include "src/records/ledger_action.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/records/doubtful_store.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

class LedgerDeeds : public OnEveryStore {
 protected:
  LedgerCommand command(Action action, const LedgerFilter& filter = {}, bool sure = false) {
    LedgerCommand made{
        .action = action, .filter = filter, .sure = sure, .numbers = {}, .who = "anna", .why = "because"};
    made.numbers = preview(*store_, made).numbers;
    return made;
  }
  std::int64_t changed(const LedgerCommand& command) { return carry_out(*store_, command).changed; }
  std::int64_t audited() { return under_->rows_in("audit"); }
  LedgerRow row(std::int64_t number) { return read_call(*store_, number)->row; }

  static constexpr const char* all_states[] = {"planned", "attempting", "succeeded", "failed",   "unknown",
                                               "waiting", "approved",   "refused",   "cancelled"};
};

TEST_P(LedgerDeeds, RetryPlansAFailedCallAnewWithAllItsAttempts) {
  const auto number = ask({.state = "failed", .first_attempt_seconds = 1'700'000'100});
  EXPECT_EQ(changed(command(Action::retry)), 1);
  const LedgerRow after = row(number);
  EXPECT_EQ(after.state, CallState::planned);
  EXPECT_EQ(after.attempts, 0);
  EXPECT_EQ(after.look_ups, 0);
  EXPECT_TRUE(after.due_at);
  EXPECT_FALSE(after.ended_at);
  EXPECT_EQ(after.code, "");
  EXPECT_TRUE(after.first_attempt_at) << "the other side remembers the key since then";
}

TEST_P(LedgerDeeds, OnlyTheStatesOfTheActionAreLeft) {
  std::map<std::string, std::int64_t> numbers;
  for (const char* state : all_states) numbers[state] = ask({.key = state, .state = state});
  LedgerCommand everything = command(Action::retry);
  EXPECT_EQ(everything.numbers, Numbers{numbers["failed"]});
  for (const auto& [state, number] : numbers) everything.numbers.push_back(number);
  std::ranges::sort(everything.numbers);
  EXPECT_EQ(changed(everything), 1);
  EXPECT_EQ(call_state(numbers["failed"]), "planned");
  everything.action = Action::cancel;
  EXPECT_EQ(changed(everything), 4);
  for (const char* state : {"planned", "waiting", "approved", "failed"}) {
    EXPECT_EQ(call_state(numbers[state]), "cancelled") << state;
    EXPECT_FALSE(row(numbers[state]).due_at);
  }
  for (const char* state : {"attempting", "succeeded", "unknown", "refused"}) {
    EXPECT_EQ(call_state(numbers[state]), state);
  }
}

TEST_P(LedgerDeeds, WhatMayHaveBeenDoneIsSentAgainOnlyByWhoeverIsSure) {
  const auto number = ask({.state = "unknown"});
  LedgerCommand retry = command(Action::retry);
  EXPECT_EQ(preview(*store_, retry).unknown, 1);
  retry.numbers = {number};
  EXPECT_EQ(changed(retry), 0);
  EXPECT_EQ(call_state(number), "unknown");
  EXPECT_EQ(changed(command(Action::retry, {}, true)), 1);
  EXPECT_EQ(call_state(number), "planned");
  const auto detail = nlohmann::json::parse(reader().value("SELECT detail FROM " + table("audit")));
  EXPECT_EQ(detail.at("filter").at("sure"), "yes");
}

// The approval was for one call; who lets it go again does not approve it.
TEST_P(LedgerDeeds, WhatWasApprovedBeforeWaitsForANewApproval) {
  const auto number = ask({.state = "failed", .approved_until_seconds = 1'900'000'000});
  EXPECT_EQ(changed(command(Action::retry)), 1);
  EXPECT_EQ(call_state(number), "waiting");
  EXPECT_FALSE(row(number).approved_until);
}

TEST_P(LedgerDeeds, EachCallKeepsWhoAndWhyAmongItsAttempts) {
  const auto a = ask({.key = "a", .state = "failed"}), b = ask({.key = "b", .state = "failed"});
  attempt_at(a, "failed");
  EXPECT_EQ(changed(command(Action::retry)), 2);
  EXPECT_EQ(audited(), 1);
  for (const auto number : {a, b}) {
    const CallAttempt last = read_call(*store_, number)->attempts.back();
    EXPECT_EQ(last.kind, "person");
    EXPECT_EQ(last.number, 2);
    EXPECT_EQ(last.who, "anna");
    EXPECT_EQ(last.outcome, "retry");
    EXPECT_EQ(last.detail, "because");
    EXPECT_TRUE(last.ended_at);
  }
}

TEST_P(LedgerDeeds, ByFilterAndByNumberTheRestIsLeftAlone) {
  const auto a = ask({.key = "a", .state = "failed"}), b = ask({.key = "b", .state = "failed", .endpoint = "mail"});
  EXPECT_EQ(changed(command(Action::retry, {.endpoint = "mail"})), 1);
  EXPECT_EQ(call_state(a), "failed");
  EXPECT_EQ(call_state(b), "planned");
  EXPECT_EQ(changed(command(Action::cancel, {.numbers = {b}})), 1);
  EXPECT_EQ(call_state(b), "cancelled");
}

TEST_P(LedgerDeeds, WhatThePreviewHasNotSeenIsLeftAlone) {
  ask({.key = "a", .state = "failed"});
  const LedgerCommand confirmed = command(Action::retry);
  const auto later = ask({.key = "b", .state = "failed"});
  EXPECT_EQ(changed(confirmed), 1);
  EXPECT_EQ(call_state(later), "failed");
}

TEST_P(LedgerDeeds, GoInStepsAndCountTruly) {
  ask_many(5, "failed");
  LedgerCommand bulk = command(Action::retry);
  bulk.rows_of_a_step = 2;
  const Progress progress = carry_out(*store_, bulk);
  EXPECT_EQ(progress.changed, 5);
  EXPECT_EQ(progress.steps, 3);
  EXPECT_EQ(audited(), 3);
  EXPECT_EQ(calls_in("planned"), 5);
}

TEST_P(LedgerDeeds, AStepWhoseCommitIsNotAnsweredIsDoneOnceAndCountedOnce) {
  for (const bool lands : {true, false}) {
    const auto number = ask({.key = lands ? "a" : "b", .state = "failed"});
    const LedgerCommand retry = command(Action::retry);
    DoubtfulStore doubtful(*store_, lands);
    EXPECT_EQ(carry_out(doubtful, retry).changed, 1);
    EXPECT_EQ(doubtful.doubts, 1);
    EXPECT_EQ(call_state(number), "planned");
    EXPECT_EQ(read_call(*store_, number)->attempts.size(), 1u);
    EXPECT_EQ(read_call(*store_, number)->audit.size(), 1u);
  }
}

TEST_P(LedgerDeeds, WithoutItsAuditNothingIsDone) {
  const auto number = ask({.state = "failed"});
  const LedgerCommand retry = command(Action::retry);
  without_audit([&] { EXPECT_THROW(carry_out(*store_, retry), Fault); });
  EXPECT_EQ(call_state(number), "failed");
  EXPECT_EQ(under_->rows_in("ledger_attempt"), 0);
}

TEST_P(LedgerDeeds, WhoAndWhyMustBeSaid) {
  LedgerCommand retry = command(Action::retry);
  retry.why = " ";
  EXPECT_THROW(carry_out(*store_, retry), std::invalid_argument);
  retry = command(Action::discard);
  EXPECT_THROW(carry_out(*store_, retry), std::invalid_argument);
}

ONCEWARD_ON_EVERY_STORE(LedgerDeeds);

}  // namespace
}  // namespace onceward::records
