#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class LedgerActions : public CommandOnStore {
 protected:
  static Words with_mandate(Words arguments) {
    arguments.insert(arguments.end(), {"--yes", "--who", "anna", "--why", "because"});
    return arguments;
  }
};

TEST_P(LedgerActions, RetryByFilterShowsAPreviewAndIsAudited) {
  for (int i = 0; i < 12; ++i) ask({.key = fmt::format("k{}", i), .state = "failed"});
  ask({.key = "fine", .state = "succeeded"});
  auto arguments = with_mandate({"ledger", "retry", "--endpoint", "gateway", "-o", "ndjson"});
  const auto spoken = say(arguments);
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_TRUE(has(spoken.err, "12 of 13 matching row(s) are failed")) << spoken.err;
  EXPECT_TRUE(has(spoken.err, "... and 2 more")) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("changed"), 12);
  EXPECT_EQ(calls_in("planned"), 12);
  EXPECT_EQ(reader().value("SELECT action FROM " + table("audit")), "ledger.retry");
}

TEST_P(LedgerActions, WhatIsUnknownNeedsToBeSure) {
  const auto number = std::to_string(ask({.state = "unknown"}));
  const auto unsure = say(with_mandate({"ledger", "retry", number}));
  EXPECT_EQ(unsure.exit_code, 4);
  EXPECT_TRUE(has(unsure.err, "may have been done")) << unsure.err;
  EXPECT_EQ(calls_in("unknown"), 1);
  EXPECT_EQ(json(with_mandate({"ledger", "retry", number, "--sure"})).at(0).at("changed"), 1);
  EXPECT_EQ(calls_in("planned"), 1);
}

TEST_P(LedgerActions, CancelByNumberLeavesOthersAlone) {
  const auto planned = ask({.key = "a"}), other = ask({.key = "b"}), done = ask({.key = "c", .state = "succeeded"});
  EXPECT_EQ(json(with_mandate({"ledger", "cancel", std::to_string(planned)})).at(0).at("changed"), 1);
  EXPECT_EQ(call_state(planned), "cancelled");
  EXPECT_EQ(call_state(other), "planned");
  EXPECT_EQ(say(with_mandate({"ledger", "cancel", std::to_string(done)})).exit_code, 4);
  EXPECT_EQ(say(with_mandate({"ledger", "cancel", "999"})).exit_code, 3);
  EXPECT_EQ(say(with_mandate({"ledger", "cancel"})).exit_code, 2);
}

TEST_P(LedgerActions, ADryRunChangesNothingAndWithoutATerminalItWantsYes) {
  const auto number = ask({});
  const Words cancel{"ledger", "cancel", "--all", "--who", "anna", "--why", "test"};
  Words dry = cancel;
  dry.push_back("--dry-run");
  EXPECT_EQ(json(dry).at(0).at("eligible"), 1);
  EXPECT_EQ(say(cancel).exit_code, 6);
  EXPECT_EQ(call_state(number), "planned");
  EXPECT_EQ(under_->rows_in("audit"), 0);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(LedgerActions);

}  // namespace
}  // namespace onceward::cli
