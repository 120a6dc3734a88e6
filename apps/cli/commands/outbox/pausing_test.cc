#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class OutboxPausing : public CommandOnStore {
 protected:
  std::int64_t paused() { return under_->rows_in("relay_paused"); }
};

TEST_P(OutboxPausing, PauseAndResumeAreAuditedWithWhoAndWhy) {
  const auto told = json({"outbox", "pause", "orders", "--yes", "--who", "anna", "--why", "it is moved"});
  EXPECT_EQ(told.at(0).at("target"), "orders");
  EXPECT_EQ(told[0].at("changed"), 1);
  EXPECT_EQ(reader().value("SELECT why FROM " + table("relay_paused") + " WHERE target = 'orders'"), "it is moved");
  EXPECT_EQ(json({"outbox", "resume", "orders", "--yes", "--who", "ben", "--why", "done"}).at(0).at("changed"), 1);
  EXPECT_EQ(paused(), 0);
  const auto audit = reader().read("SELECT who, action, reason FROM " + table("audit") + " ORDER BY number");
  ASSERT_EQ(audit.size(), 2u);
  EXPECT_EQ(audit[0][0], "anna");
  EXPECT_EQ(audit[0][1], "outbox.pause");
  EXPECT_EQ(audit[1][0], "ben");
  EXPECT_EQ(audit[1][1], "outbox.resume");
  EXPECT_EQ(audit[1][2], "done");
}

TEST_P(OutboxPausing, ThePreviewCountsWhatIsPendingAndADryRunChangesNothing) {
  for (const char* state : {"pending", "waiting", "behind", "aside", "discarded"}) stage({.state = state});
  const auto dry = say({"outbox", "pause", "orders", "--dry-run", "--who", "anna", "--why", "x", "-o", "ndjson"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_TRUE(has(dry.err, "3 message(s) are pending")) << dry.err;
  EXPECT_EQ(nlohmann::json::parse(dry.out).at("changed"), 0);
  EXPECT_EQ(paused(), 0);
}

TEST_P(OutboxPausing, WithoutATerminalItWantsYesAndAtOneItAsks) {
  const Words pause = words({"outbox", "pause", "orders", "--who", "anna", "--why", "x"});
  EXPECT_EQ(fixtures::speak(pause).exit_code, 6);
  const auto no = fixtures::speak_at_terminal(pause, "\n");
  EXPECT_EQ(no.exit_code, 6) << no.out;
  EXPECT_TRUE(has(no.out, "pause orders? [y/N]")) << no.out;
  EXPECT_EQ(paused(), 0);
  EXPECT_EQ(fixtures::speak_at_terminal(pause, "y\n").exit_code, 0);
  EXPECT_EQ(paused(), 1);
}

TEST_P(OutboxPausing, WhatIsSoAlreadyIsSaidByTheExitCode) {
  const auto unknown = say({"outbox", "resume", "orders", "--yes", "--who", "anna", "--why", "x"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(has(unknown.err, "target orders is not paused")) << unknown.err;
  EXPECT_EQ(say({"outbox", "pause", "orders", "--yes", "--who", "anna", "--why", "first"}).exit_code, 0);
  const auto again = say({"outbox", "pause", "orders", "--yes", "--who", "ben", "--why", "second"});
  EXPECT_EQ(again.exit_code, 4);
  EXPECT_TRUE(has(again.err, "already paused") && has(again.err, "anna") && has(again.err, "first")) << again.err;
  EXPECT_EQ(under_->rows_in("audit"), 1);
}

TEST_P(OutboxPausing, TargetAndWhyMustBeSaid) {
  EXPECT_EQ(say({"outbox", "pause", "--yes", "--who", "anna", "--why", "x"}).exit_code, 2);
  EXPECT_EQ(say({"outbox", "pause", "", "--yes", "--who", "anna", "--why", "x"}).exit_code, 2);
  EXPECT_EQ(say({"outbox", "pause", "orders", "--yes", "--who", "anna"}).exit_code, 2);
  EXPECT_EQ(say({"outbox", "resume", "orders", "--yes", "--who", "anna", "--why", ""}).exit_code, 2);
  EXPECT_EQ(paused(), 0);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(OutboxPausing);

}  // namespace
}  // namespace onceward::cli
