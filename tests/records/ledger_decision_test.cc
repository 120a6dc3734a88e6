#include "src/records/ledger_decision.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/records/doubtful_store.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class Decisions : public OnEveryStore {
 protected:
  LedgerRow row(std::int64_t number) { return read_call(*store_, number)->row; }
  std::string audit(const std::string& column) {
    return reader().value("SELECT " + column + " FROM " + table("audit"));
  }
  std::int64_t audited() { return under_->rows_in("audit"); }
};

TEST_P(Decisions, AnApprovalNamesBothPeopleAndHoldsForAWhile) {
  const auto number = ask({.state = "waiting", .requested_by = "otto"});
  EXPECT_EQ(approve_call(*store_, {number, "anna", "checked"}, hours(2)), Decided::yes);
  const LedgerRow after = row(number);
  EXPECT_EQ(after.state, CallState::approved);
  EXPECT_EQ(after.decided_by, "anna");
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  ASSERT_TRUE(after.approved_until && after.due_at);
  EXPECT_LT(std::chrono::abs(*after.approved_until - now - hours(2)), seconds(60));
  EXPECT_LT(std::chrono::abs(*after.due_at - now), seconds(60));
  EXPECT_EQ(audit("who"), "anna");
  EXPECT_EQ(audit("reason"), "checked");
  EXPECT_EQ(audit("action"), "ledger.approve");
  EXPECT_EQ(audit("object"), fmt::format("ledger/{}", number));
  const auto detail = nlohmann::json::parse(audit("detail"));
  EXPECT_EQ(detail.at("requested_by"), "otto");
  EXPECT_EQ(detail.at("decided_by"), "anna");
  EXPECT_EQ(detail.at("key"), "capture/1");
  EXPECT_EQ(read_call(*store_, number)->attempts.at(0).outcome, "approved");
}

TEST_P(Decisions, WhoeverAskedCannotApprove) {
  const auto number = ask({.state = "waiting", .requested_by = "Otto"});
  for (const char* who : {"Otto", "otto", " OTTO "}) {
    EXPECT_EQ(approve_call(*store_, {number, who, "it is fine"}, hours(1)), Decided::same_person) << who;
  }
  const auto by_consumer = ask({.key = "b", .state = "waiting"});
  EXPECT_EQ(approve_call(*store_, {by_consumer, "billing", "it is fine"}, hours(1)), Decided::same_person);
  EXPECT_EQ(call_state(number), "waiting");
  EXPECT_EQ(audited(), 0);
  EXPECT_EQ(under_->rows_in("ledger_attempt"), 0);
}

// Else one person could send a call again as often as they like.
TEST_P(Decisions, WhoeverLetItGoAgainCannotApprove) {
  const auto number = ask({.state = "unknown", .requested_by = "otto", .approved_until_seconds = 1'900'000'000});
  EXPECT_EQ(resolve_call(*store_, {number, "anna", "their log has nothing"}, Found::not_done, ""), Decided::yes);
  EXPECT_EQ(call_state(number), "waiting");
  EXPECT_EQ(approve_call(*store_, {number, " Anna", "checked"}, hours(1)), Decided::same_person);
  EXPECT_EQ(approve_call(*store_, {number, "otto", "checked"}, hours(1)), Decided::same_person);
  EXPECT_EQ(approve_call(*store_, {number, "bert", "checked"}, hours(1)), Decided::yes);
}

TEST_P(Decisions, AnApprovedCallGoesOutWhenItsTimeComes) {
  const auto number = ask({.state = "waiting", .requested_by = "otto", .not_before_seconds = 1'900'000'000});
  EXPECT_EQ(approve_call(*store_, {number, "anna", "checked"}, hours(1)), Decided::yes);
  EXPECT_EQ(row(number).due_at, Timestamp(seconds(1'900'000'000)));
}

TEST_P(Decisions, ARefusalIsForGood) {
  const auto number = ask({.state = "waiting", .requested_by = "otto"});
  EXPECT_EQ(refuse_call(*store_, {number, "anna", "the amount is wrong"}), Decided::yes);
  const LedgerRow after = row(number);
  EXPECT_EQ(after.state, CallState::refused);
  EXPECT_EQ(after.detail, "the amount is wrong");
  EXPECT_EQ(after.decided_by, "anna");
  EXPECT_FALSE(after.due_at);
  EXPECT_TRUE(after.ended_at);
  EXPECT_EQ(approve_call(*store_, {number, "bert", "no, right"}, hours(1)), Decided::other_state);
}

TEST_P(Decisions, WhatWasDoneHasSucceededWithItsReference) {
  const auto number = ask({.state = "unknown"});
  EXPECT_EQ(resolve_call(*store_, {number, "anna", "seen in their portal"}, Found::done, "ch_81"), Decided::yes);
  const LedgerRow after = row(number);
  EXPECT_EQ(after.state, CallState::succeeded);
  EXPECT_EQ(after.external_ref, "ch_81");
  EXPECT_FALSE(after.due_at);
  EXPECT_EQ(nlohmann::json::parse(audit("detail")).at("external_ref"), "ch_81");
  EXPECT_EQ(read_call(*store_, number)->attempts.at(0).external_ref, "ch_81");
}

TEST_P(Decisions, WhatWasNotDoneIsPlannedAgain) {
  const auto number = ask({.state = "unknown"});
  EXPECT_EQ(resolve_call(*store_, {number, "anna", "their log has nothing"}, Found::not_done, ""), Decided::yes);
  EXPECT_EQ(row(number).state, CallState::planned);
  EXPECT_EQ(row(number).attempts, 0);
}

TEST_P(Decisions, AreOnlyAboutTheirOwnStates) {
  for (const char* state : {"planned", "attempting", "succeeded", "failed", "approved", "refused", "cancelled"}) {
    const auto number = ask({.key = state, .state = state});
    EXPECT_EQ(approve_call(*store_, {number, "anna", "x"}, hours(1)), Decided::other_state) << state;
    EXPECT_EQ(refuse_call(*store_, {number, "anna", "x"}), Decided::other_state) << state;
    EXPECT_EQ(resolve_call(*store_, {number, "anna", "x"}, Found::done, ""), Decided::other_state) << state;
    EXPECT_EQ(call_state(number), state);
  }
  EXPECT_EQ(approve_call(*store_, {999, "anna", "x"}, hours(1)), Decided::no_such_call);
  EXPECT_EQ(audited(), 0);
}

TEST_P(Decisions, OneWhoseCommitIsNotAnsweredIsMadeOnce) {
  for (const bool lands : {true, false}) {
    const auto number = ask({.key = lands ? "a" : "b", .state = "waiting", .requested_by = "otto"});
    DoubtfulStore doubtful(*store_, lands);
    EXPECT_EQ(approve_call(doubtful, {number, "anna", "checked"}, hours(1)), Decided::yes);
    EXPECT_EQ(doubtful.doubts, 1);
    EXPECT_EQ(call_state(number), "approved");
    EXPECT_EQ(read_call(*store_, number)->audit.size(), 1u);
    EXPECT_EQ(read_call(*store_, number)->attempts.size(), 1u);
  }
}

TEST_P(Decisions, WithoutItsAuditNothingIsDecided) {
  const auto number = ask({.state = "waiting", .requested_by = "otto"});
  without_audit([&] { EXPECT_THROW(approve_call(*store_, {number, "anna", "checked"}, hours(1)), Fault); });
  EXPECT_EQ(call_state(number), "waiting");
  EXPECT_EQ(under_->rows_in("ledger_attempt"), 0);
}

TEST_P(Decisions, TextsThatCannotBeKeptAreRefused) {
  const auto number = ask({.state = "unknown"});
  EXPECT_THROW(resolve_call(*store_, {number, "anna", ""}, Found::done, ""), std::invalid_argument);
  EXPECT_THROW(resolve_call(*store_, {number, "anna", "x"}, Found::done, std::string(300, 'r')), std::invalid_argument);
  EXPECT_THROW(resolve_call(*store_, {number, "anna", "x"}, Found::not_done, "ch_1"), std::invalid_argument);
  EXPECT_THROW(approve_call(*store_, {number, "anna", "x"}, seconds(0)), std::invalid_argument);
}

ONCEWARD_ON_EVERY_STORE(Decisions);

}  // namespace
}  // namespace onceward::records
