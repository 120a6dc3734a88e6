#include <signal.h>

#include "apps/cli/suite.h"
#include "tests/fixtures/process.h"

namespace onceward::cli {
namespace {

class OutboxActions : public CommandOnStore {
 protected:
  std::string audit(const std::string& column) {
    return reader().value("SELECT " + column + " FROM " + table("audit"));
  }
};

TEST_P(OutboxActions, RetryByNumberIsAuditedWithWhoAndWhy) {
  const auto number = stage({.state = "aside"});
  const auto told = json({"outbox", "retry", std::to_string(number), "--yes", "--who", "anna", "--why", "it is back"});
  EXPECT_EQ(told.at(0).at("changed"), 1);
  EXPECT_EQ(told[0].at("skipped"), 0);
  EXPECT_EQ(staged_state(number), "waiting");
  EXPECT_EQ(json({"outbox", "show", std::to_string(number)}).at("attempts"), 0);
  EXPECT_EQ(audit("who"), "anna");
  EXPECT_EQ(audit("reason"), "it is back");
  EXPECT_EQ(audit("action"), "outbox.retry");
}

TEST_P(OutboxActions, DiscardByFilterShowsAPreviewAndCountsTruly) {
  for (int i = 0; i < 12; ++i) stage({.id = fmt::format("m{}", i), .state = "aside", .type = "test.traffic"});
  stage({.id = "pending", .type = "test.traffic"});
  const auto other = stage({.id = "other", .state = "aside"});
  const auto spoken =
      say({"outbox", "discard", "--type", "test.", "--yes", "--who", "anna", "--why", "x", "-o", "ndjson"});
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_TRUE(has(spoken.err, "12 of 13 matching row(s) are waiting or quarantined")) << spoken.err;
  EXPECT_TRUE(has(spoken.err, "... and 2 more")) << spoken.err;
  EXPECT_FALSE(has(spoken.err, "secret")) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("eligible"), 12);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("changed"), 12);
  EXPECT_EQ(staged_in("discarded"), 12);
  EXPECT_EQ(staged_state(other), "aside");
  EXPECT_EQ(json({"outbox", "discard", "--type", "test.", "--yes", "--who", "anna", "--why", "x"}).at(0).at("changed"),
            0);
}

TEST_P(OutboxActions, OneStateCanBeChosen) {
  const auto waiting = stage({.state = "waiting"}), aside = stage({.state = "aside"});
  EXPECT_EQ(json({"outbox", "discard", "--state", "quarantined", "--yes", "--who", "anna", "--why", "x"}).size(), 1u);
  EXPECT_EQ(staged_state(waiting), "waiting");
  EXPECT_EQ(staged_state(aside), "discarded");
  EXPECT_EQ(say({"outbox", "discard", "--state", "behind", "--yes", "--who", "anna", "--why", "x"}).exit_code, 2);
}

TEST_P(OutboxActions, ADryRunChangesNothing) {
  const auto number = stage({.state = "aside"});
  const auto told = json({"outbox", "discard", "--all", "--dry-run", "--who", "anna", "--why", "test"});
  EXPECT_EQ(told.at(0).at("eligible"), 1);
  EXPECT_EQ(told[0].at("changed"), 0);
  EXPECT_EQ(staged_state(number), "aside");
  EXPECT_EQ(under_->rows_in("audit"), 0);
}

TEST_P(OutboxActions, WithoutATerminalItWantsYesAndAtOneItAsks) {
  const auto number = stage({.state = "aside"});
  const Words discard = words({"outbox", "discard", "--all", "--who", "anna", "--why", "test"});
  const auto refused = fixtures::speak(discard);
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_TRUE(has(refused.err, "--yes")) << refused.err;
  const auto no = fixtures::speak_at_terminal(discard, "\n");
  EXPECT_EQ(no.exit_code, 6) << no.out;
  EXPECT_TRUE(has(no.out, "discard 1 message(s)? [y/N]")) << no.out;
  EXPECT_EQ(staged_state(number), "aside");
  EXPECT_EQ(fixtures::speak_at_terminal(discard, "y\n").exit_code, 0);
  EXPECT_EQ(staged_state(number), "discarded");
}

TEST_P(OutboxActions, ANumberThatIsNotThereStopsAll) {
  const auto number = stage({.state = "aside"});
  const auto spoken = say({"outbox", "discard", std::to_string(number), "999", "--yes", "--who", "anna", "--why", "x"});
  EXPECT_EQ(spoken.exit_code, 3);
  EXPECT_TRUE(has(spoken.err, "the outbox has no row 999")) << spoken.err;
  EXPECT_EQ(staged_state(number), "aside");
}

TEST_P(OutboxActions, WhatCannotBeActedOnIsSkippedAndSaid) {
  const auto pending = stage({.id = "pending"}), behind = stage({.id = "behind", .state = "behind"});
  const auto aside = stage({.id = "aside", .state = "aside"});
  const auto spoken = say({"outbox", "retry", std::to_string(pending), std::to_string(behind), std::to_string(aside),
                           "--yes", "--who", "anna", "--why", "x", "-o", "ndjson"});
  EXPECT_EQ(spoken.exit_code, 4);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("changed"), 1);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("skipped"), 2);
  EXPECT_EQ(staged_state(behind), "behind");
}

TEST_P(OutboxActions, WhichRowsAndWhoAndWhyMustBeSaid) {
  const auto number = stage({.state = "aside"});
  EXPECT_EQ(say({"outbox", "discard", "--yes", "--who", "anna", "--why", "x"}).exit_code, 2);
  EXPECT_EQ(say({"outbox", "discard", "--all", "--yes", "--who", "anna"}).exit_code, 2);
  EXPECT_EQ(say({"outbox", "discard", "--all", "--yes", "--who", "anna", "--why", " "}).exit_code, 2);
  EXPECT_EQ(staged_state(number), "aside");
}

TEST_P(OutboxActions, KilledHalfWayItLeavesWholeStepsAndTheSameAgainTakesTheRest) {
  constexpr int count = 20'000;
  stage_many(count, "aside");
  const Words discard = words({"outbox", "discard", "--all", "--yes", "--who", "anna", "--why", "test"});
  {
    fixtures::Process process(discard);
    fixtures::await("a step is committed", [&] { return under_->rows_in("audit") > 0; });
    process.signal(SIGKILL);
    process.wait();
  }
  under_->await_rest();
  const std::int64_t before = staged_in("discarded");
  EXPECT_EQ(before, 500 * under_->rows_in("audit"));
  EXPECT_LT(before, count) << "it had ended before it was killed";
  const auto rest = json({"outbox", "discard", "--all", "--yes", "--who", "anna", "--why", "test"});
  EXPECT_EQ(rest.at(0).at("changed"), count - before);
  EXPECT_EQ(staged_in("discarded"), count);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(OutboxActions);

}  // namespace
}  // namespace onceward::cli
