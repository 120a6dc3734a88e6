#include <fstream>

#include "apps/cli/suite.h"
#include "tests/fixtures/process.h"

namespace onceward::cli {
namespace {

class LedgerDecisions : public CommandOnStore {
 protected:
  fixtures::Spoken decide(Words arguments, const std::string& who = "anna") const {
    arguments.insert(arguments.begin(), "ledger");
    arguments.insert(arguments.end(), {"--yes", "--who", who, "--why", "checked", "-o", "ndjson"});
    return say(std::move(arguments));
  }
  // For how many seconds the approval holds from now.
  std::int64_t left() {
    return reader().number("SELECT " +
                           std::string(postgres() ? "extract(epoch FROM approved_until - now())::bigint"
                                                  : "approved_until / 1000000 - unixepoch()") +
                           " FROM " + table("ledger"));
  }
  std::string write(const std::string& toml) const {
    std::ofstream(folder_.path() + "/app.toml") << toml;
    return folder_.path() + "/app.toml";
  }

  const fixtures::TemporaryDirectory folder_;
};

TEST_P(LedgerDecisions, ApprovalNeedsTwoPeople) {
  const auto number = ask({.state = "waiting", .requested_by = "otto"});
  const auto same = decide({"approve", std::to_string(number)}, "otto");
  EXPECT_EQ(same.exit_code, 6);
  EXPECT_TRUE(has(same.err, "otto asked for call")) << same.err;
  EXPECT_EQ(call_state(number), "waiting");
  const auto spoken = decide({"approve", std::to_string(number)});
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).at("state"), "approved");
  EXPECT_EQ(call_state(number), "approved");
  EXPECT_EQ(decide({"approve", std::to_string(number)}).exit_code, 4);
  EXPECT_EQ(decide({"approve", "999"}).exit_code, 3);
  const auto shown = json({"ledger", "show", std::to_string(number)});
  EXPECT_EQ(shown.at("audit").at(0).at("detail").at("requested_by"), "otto");
  EXPECT_EQ(shown["audit"][0]["detail"].at("decided_by"), "anna");
}

TEST_P(LedgerDecisions, AnApprovalHoldsAsLongAsIsSaidHereOrInTheFile) {
  const auto number = std::to_string(ask({.state = "waiting", .requested_by = "otto"}));
  const auto again = [&] { reader().run("UPDATE " + table("ledger") + " SET state = 'waiting'"); };
  EXPECT_EQ(decide({"approve", number}).exit_code, 0);
  EXPECT_NEAR(static_cast<double>(left()), 86'400, 60);
  again();
  EXPECT_EQ(decide({"approve", number, "--for", "2h"}).exit_code, 0);
  EXPECT_NEAR(static_cast<double>(left()), 7'200, 60);
  again();
  const std::string file = write("[[endpoint]]\nname = \"gateway\"\napproval_lifetime = \"10m\"\n");
  EXPECT_EQ(decide({"approve", number, "--config", file}).exit_code, 0);
  EXPECT_NEAR(static_cast<double>(left()), 600, 60);
  EXPECT_EQ(decide({"approve", number, "--for", "soon"}).exit_code, 2);
}

TEST_P(LedgerDecisions, RefuseEndsACallWithItsReason) {
  const auto number = ask({.state = "waiting", .requested_by = "otto"});
  EXPECT_EQ(decide({"refuse", std::to_string(number)}).exit_code, 0);
  EXPECT_EQ(call_state(number), "refused");
  EXPECT_EQ(json({"ledger", "show", std::to_string(number)}).at("detail"), "checked");
}

TEST_P(LedgerDecisions, AnUnknownCallIsResolvedByAPerson) {
  const auto done = ask({.key = "a", .state = "unknown"}), not_done = ask({.key = "b", .state = "unknown"});
  EXPECT_EQ(decide({"reconcile", std::to_string(done), "--as", "done", "--reference", "ch_81"}).exit_code, 0);
  EXPECT_EQ(call_state(done), "succeeded");
  EXPECT_EQ(json({"ledger", "show", std::to_string(done)}).at("external_ref"), "ch_81");
  EXPECT_EQ(decide({"reconcile", std::to_string(not_done), "--as", "not-done"}).exit_code, 0);
  EXPECT_EQ(call_state(not_done), "planned");
  EXPECT_EQ(decide({"reconcile", std::to_string(done), "--as", "done"}).exit_code, 4);
  EXPECT_EQ(decide({"reconcile", std::to_string(done), "--as", "perhaps"}).exit_code, 2);
  EXPECT_EQ(decide({"reconcile", std::to_string(done)}).exit_code, 2);
  EXPECT_EQ(decide({"reconcile", std::to_string(done), "--as", "not-done", "--reference", "x"}).exit_code, 2);
}

TEST_P(LedgerDecisions, TheReasonAndAYesAreNeeded) {
  const auto number = std::to_string(ask({.state = "waiting", .requested_by = "otto"}));
  EXPECT_EQ(say({"ledger", "approve", number, "--who", "anna", "--yes"}).exit_code, 2);
  EXPECT_EQ(say({"ledger", "approve", number, "--who", "anna", "--why", "x"}).exit_code, 6);
  EXPECT_EQ(say({"ledger", "approve", number, "--who", "anna", "--why", "x", "--dry-run"}).exit_code, 0);
  EXPECT_EQ(calls_in("waiting"), 1);
  EXPECT_EQ(under_->rows_in("audit"), 0);
  const auto asked =
      fixtures::speak_at_terminal(words({"ledger", "approve", number, "--who", "anna", "--why", "x"}), "y\n");
  EXPECT_EQ(asked.exit_code, 0) << asked.out;
  EXPECT_TRUE(has(asked.out, "which otto asked for? [y/N]")) << asked.out;
  EXPECT_EQ(calls_in("approved"), 1);
}

TEST_P(LedgerDecisions, AComparisonNeedsAListToCompareWith) {
  const std::string file = write("[[endpoint]]\nname = \"gateway\"\nurl = \"http://localhost:1\"\n");
  EXPECT_EQ(say({"ledger", "reconcile", "--since", "1h"}).exit_code, 2);
  const auto without = say({"ledger", "reconcile", "--since", "1h", "--config", file});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_TRUE(has(without.err, "declare [endpoint.list]")) << without.err;
  EXPECT_EQ(say({"ledger", "reconcile", "--since", "1h", "--config", file, "--endpoint", "mail"}).exit_code, 2);
  EXPECT_EQ(say({"ledger", "reconcile", "17", "--since", "1h", "--config", file}).exit_code, 2);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(LedgerDecisions);

}  // namespace
}  // namespace onceward::cli
