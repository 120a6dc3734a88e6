#include <signal.h>

#include "apps/cli/suite.h"
#include "tests/fixtures/process.h"

namespace onceward::cli {
namespace {

class QuarantineActions : public CommandOnStore {
 protected:
  std::string audit(const std::string& column) {
    return reader().value("SELECT " + column + " FROM " + table("audit"));
  }
};

TEST_P(QuarantineActions, RetryByNumberIsAuditedWithWhoAndWhy) {
  put_outcome("80000000-0000-4000-8000-00000000000a", State::quarantined);
  const auto number = park({.key = "80000000-0000-4000-8000-00000000000a"});
  const auto told =
      json({"quarantine", "retry", std::to_string(number), "--yes", "--who", "anna", "--why", "it is back"});
  EXPECT_EQ(told.at(0).at("changed"), 1);
  EXPECT_EQ(told[0].at("skipped"), 0);
  EXPECT_EQ(parked_state(number), "retrying");
  EXPECT_EQ(audit("who"), "anna");
  EXPECT_EQ(audit("reason"), "it is back");
  EXPECT_EQ(audit("action"), "quarantine.retry");
}

TEST_P(QuarantineActions, DiscardByFilterShowsAPreviewAndCountsTruly) {
  for (int i = 0; i < 12; ++i) park({.reason = "test_traffic", .id = fmt::format("m{}", i)});
  const auto other = park({.id = "other"});
  const auto spoken = say(
      {"quarantine", "discard", "--reason", "test_traffic", "--yes", "--who", "anna", "--why", "test", "-o", "ndjson"});
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_TRUE(has(spoken.err, "12 of 12 matching")) << spoken.err;
  EXPECT_TRUE(has(spoken.err, "... and 2 more")) << spoken.err;
  EXPECT_FALSE(has(spoken.err, "secret")) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("changed"), 12);
  EXPECT_EQ(parked_state(other), "parked");
  const auto again =
      json({"quarantine", "discard", "--reason", "test_traffic", "--yes", "--who", "anna", "--why", "test"});
  EXPECT_EQ(again.at(0).at("changed"), 0);
}

TEST_P(QuarantineActions, ADryRunChangesNothing) {
  const auto number = park({});
  const auto told = json({"quarantine", "discard", "--all", "--dry-run", "--who", "anna", "--why", "test"});
  EXPECT_EQ(told.at(0).at("parked"), 1);
  EXPECT_EQ(told[0].at("changed"), 0);
  EXPECT_EQ(parked_state(number), "parked");
  EXPECT_EQ(under_->rows_in("audit"), 0);
}

TEST_P(QuarantineActions, WithoutATerminalItWantsYes) {
  const auto number = park({});
  const auto refused = say({"quarantine", "discard", "--all", "--who", "anna", "--why", "test"});
  EXPECT_EQ(refused.exit_code, 6);
  EXPECT_TRUE(has(refused.err, "--yes")) << refused.err;
  EXPECT_EQ(parked_state(number), "parked");
}

TEST_P(QuarantineActions, AtATerminalItAsks) {
  const auto number = park({});
  const Words discard = words({"quarantine", "discard", "--all", "--who", "anna", "--why", "test"});
  const auto no = fixtures::speak_at_terminal(discard, "\n");
  EXPECT_EQ(no.exit_code, 6) << no.out;
  EXPECT_TRUE(has(no.out, "discard 1 message(s)? [y/N]")) << no.out;
  EXPECT_EQ(parked_state(number), "parked");
  const auto yes = fixtures::speak_at_terminal(discard, "y\n");
  EXPECT_EQ(yes.exit_code, 0) << yes.out;
  EXPECT_EQ(parked_state(number), "discarded");
}

TEST_P(QuarantineActions, ANumberThatIsNotThereStopsAll) {
  const auto number = park({});
  const auto spoken =
      say({"quarantine", "discard", std::to_string(number), "999", "--yes", "--who", "anna", "--why", "x"});
  EXPECT_EQ(spoken.exit_code, 3);
  EXPECT_TRUE(has(spoken.err, "no row 999")) << spoken.err;
  EXPECT_EQ(parked_state(number), "parked");
}

TEST_P(QuarantineActions, WhatIsNotParkedIsSkippedAndSaid) {
  const auto gone = park({.id = "gone", .state = "resolved"});
  const auto parked = park({.id = "parked"});
  const auto spoken = say({"quarantine", "discard", std::to_string(gone), std::to_string(parked), "--yes", "--who",
                           "anna", "--why", "x", "-o", "ndjson"});
  EXPECT_EQ(spoken.exit_code, 4);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("changed"), 1);
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("skipped"), 1);
  EXPECT_EQ(parked_state(gone), "resolved");
}

TEST_P(QuarantineActions, WhichRowsAndWhyMustBeSaid) {
  const auto number = park({});
  EXPECT_EQ(say({"quarantine", "discard", "--yes", "--who", "anna", "--why", "x"}).exit_code, 2);
  EXPECT_EQ(say({"quarantine", "discard", "--all", "--yes", "--who", "anna"}).exit_code, 2);
  EXPECT_EQ(say({"quarantine", "discard", "--all", "--yes", "--who", "anna", "--why", " "}).exit_code, 2);
  EXPECT_EQ(say({"quarantine", "discard", "--consumer", "nobody", "--yes", "--who", "anna", "--why", "x"}).exit_code,
            3);
  EXPECT_EQ(parked_state(number), "parked");
}

TEST_P(QuarantineActions, WhoIsTakenFromTheEnvironment) {
  park({});
  Words discard = words({"quarantine", "discard", "--all", "--yes", "--reason-text", "x"});
  discard.insert(discard.begin(), {"/usr/bin/env", "-u", "ONCEWARD_USER", "USER=ben"});
  EXPECT_EQ(fixtures::speak(discard).exit_code, 0);
  EXPECT_EQ(audit("who"), "ben");
  discard.insert(discard.begin() + 1, "-u");
  discard.insert(discard.begin() + 2, "USER");
  discard[5] = "LANG=C";
  EXPECT_EQ(fixtures::speak(discard).exit_code, 2) << "nobody would be named";
}

TEST_P(QuarantineActions, KilledHalfWayItLeavesWholeStepsAndTheSameAgainTakesTheRest) {
  constexpr int count = 20'000;
  park_many(count);
  const Words discard = words({"quarantine", "discard", "--all", "--yes", "--who", "anna", "--why", "test"});
  {
    fixtures::Process process(discard);
    fixtures::await("a step is committed", [&] { return under_->rows_in("audit") > 0; });
    process.signal(SIGKILL);
    process.wait();
  }
  under_->await_rest();
  const auto discarded = [&] {
    return reader().number("SELECT count(*) FROM " + table("quarantine") + " WHERE state = 'discarded'");
  };
  EXPECT_EQ(discarded(), 500 * under_->rows_in("audit"));
  EXPECT_LT(discarded(), count) << "it had ended before it was killed";
  const std::int64_t before = discarded();
  const auto rest = json({"quarantine", "discard", "--all", "--yes", "--who", "anna", "--why", "test"});
  EXPECT_EQ(rest.at(0).at("changed"), count - before);
  EXPECT_EQ(discarded(), count);
  EXPECT_EQ(under_->rows_in("audit"), count / 500);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(QuarantineActions);

}  // namespace
}  // namespace onceward::cli
