#include "src/records/ledger.h"

#include "src/records/backlogs.h"
#include "src/records/ledger_action.h"
#include "src/records/ledger_decision.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

class LedgerRecords : public OnEveryStore {
 protected:
  std::vector<std::string> keys(const LedgerFilter& filter) {
    std::vector<std::string> found;
    for (const LedgerRow& row : list_ledger(*store_, filter, std::nullopt, 100).rows) found.push_back(row.key);
    return found;
  }
  static Timestamp at(std::int64_t seconds) { return Timestamp(std::chrono::seconds(seconds)); }
  using Keys = std::vector<std::string>;
};

TEST_P(LedgerRecords, AreListedByFilterNewestFirst) {
  ask({.key = "a", .state = "failed", .business_key = "order-1"});
  ask({.key = "b", .state = "unknown", .endpoint = "mail", .at_seconds = 1'700'000'010});
  const auto c = ask({.key = "c", .at_seconds = 1'700'000'020});
  EXPECT_EQ(keys({}), (Keys{"c", "b", "a"}));
  EXPECT_EQ(keys({.states = {CallState::failed, CallState::unknown}}), (Keys{"b", "a"}));
  EXPECT_EQ(keys({.endpoint = "mail"}), Keys{"b"});
  EXPECT_EQ(keys({.key = "c"}), Keys{"c"});
  EXPECT_EQ(keys({.business_key = "order-1"}), Keys{"a"});
  EXPECT_EQ(keys({.since = at(1'700'000'010), .until = at(1'700'000'020)}), Keys{"b"});
  EXPECT_EQ(keys({.numbers = {c, 999}}), Keys{"c"});
  EXPECT_EQ(count_ledger(*store_, {}), 3);
  EXPECT_EQ(count_ledger(*store_, {}, 2), 2);
}

TEST_P(LedgerRecords, ArePagedByNumber) {
  for (int i = 0; i < 5; ++i) ask({.key = std::to_string(i)});
  const LedgerPage first = list_ledger(*store_, {}, std::nullopt, 2);
  EXPECT_EQ(first.rows.size(), 2u);
  EXPECT_TRUE(first.more);
  const LedgerPage second = list_ledger(*store_, {}, first.rows.back().number, 2);
  EXPECT_EQ(second.rows[0].key, "2");
  const LedgerPage last = list_ledger(*store_, {}, second.rows.back().number, 2);
  EXPECT_EQ(last.rows.size(), 1u);
  EXPECT_FALSE(last.more);
}

TEST_P(LedgerRecords, OneIsShownWithItsAttemptsItsCauseAndWhatPeopleDid) {
  put_outcome("80000000-0000-4000-8000-0000000000ff", State::processed);
  const auto number = ask({.state = "unknown",
                           .requested_by = "otto",
                           .external_ref = "ch_1",
                           .not_before_seconds = 1'700'000'050,
                           .first_attempt_seconds = 1'700'000'100});
  attempt_at(number, "unknown");
  const auto other = ask({.key = "capture/2", .state = "failed"});
  EXPECT_EQ(resolve_call(*store_, {number, "anna", "seen in their portal"}, Found::not_done, ""), Decided::yes);
  LedgerCommand cancel{.action = Action::cancel, .numbers = {number}, .who = "bert", .why = "withdrawn"};
  EXPECT_EQ(carry_out(*store_, cancel).changed, 1);

  const LedgerCall call = read_call(*store_, number).value();
  EXPECT_EQ(call.row.endpoint, "gateway");
  EXPECT_EQ(call.row.key, "capture/1");
  EXPECT_EQ(call.row.state, CallState::cancelled);
  EXPECT_EQ(call.row.consumer, "billing");
  EXPECT_EQ(call.row.not_before, at(1'700'000'050));
  EXPECT_EQ(call.row.first_attempt_at, at(1'700'000'100));
  EXPECT_EQ(call.row.external_ref, "ch_1");
  EXPECT_EQ(call.row.body_bytes, 6);
  ASSERT_TRUE(call.cause);
  EXPECT_EQ(call.cause->producer, "shop");
  ASSERT_EQ(call.attempts.size(), 3u);
  EXPECT_EQ(call.attempts[0].kind, "call");
  EXPECT_EQ(call.attempts[0].status, 500);
  EXPECT_EQ(call.attempts[0].response_hash, "\xab");
  EXPECT_EQ(call.attempts[1].kind, "person");
  EXPECT_EQ(call.attempts[1].who, "anna");
  EXPECT_EQ(call.attempts[1].outcome, "not_done");
  EXPECT_EQ(call.attempts[2].outcome, "cancel");
  ASSERT_EQ(call.audit.size(), 2u);
  EXPECT_EQ(call.audit[0].action, "ledger.reconcile");
  EXPECT_EQ(call.audit[1].action, "ledger.cancel");
  EXPECT_EQ(call.audit[1].why, "withdrawn");
  EXPECT_EQ(read_call_body(*store_, number), "secret");
  EXPECT_TRUE(read_call(*store_, other)->audit.empty());
  EXPECT_FALSE(read_call(*store_, 999));
  EXPECT_FALSE(read_call_body(*store_, 999));
}

// A step's audit row names many calls, and begins and ends of other numbers are not among them.
TEST_P(LedgerRecords, AStepIsShownAtEachOfItsCallsAndAtNoOther) {
  for (int i = 0; i < 12; ++i) ask({.key = std::to_string(i), .state = i == 5 ? "succeeded" : "failed"});
  LedgerCommand retry{.action = Action::retry, .who = "anna", .why = "again"};
  retry.numbers = preview(*store_, retry).numbers;
  EXPECT_EQ(carry_out(*store_, retry).changed, 11);
  const std::int64_t left_out = list_ledger(*store_, {.key = "5"}, std::nullopt, 1).rows.at(0).number;
  for (const LedgerRow& row : list_ledger(*store_, {}, std::nullopt, 100).rows) {
    EXPECT_EQ(read_call(*store_, row.number)->audit.size(), row.number == left_out ? 0u : 1u) << row.number;
  }
}

TEST_P(LedgerRecords, TheBacklogIsCountedByEndpoint) {
  EXPECT_TRUE(read_ledger_backlog(*store_).empty());
  for (const char* state : {"planned", "attempting", "approved", "unknown", "unknown", "waiting", "succeeded", "failed",
                            "refused", "cancelled"}) {
    ask({.key = state, .state = state});
  }
  ask({.key = "m", .endpoint = "mail"});
  reader().run("UPDATE " + table("ledger") + " SET due_at = NULL WHERE state = 'unknown'");
  const auto backlogs = read_ledger_backlog(*store_);
  ASSERT_EQ(backlogs.size(), 2u);
  EXPECT_EQ(backlogs.at("gateway").pending, 3);
  EXPECT_EQ(backlogs.at("gateway").unknown, 2);
  EXPECT_EQ(backlogs.at("gateway").waiting, 1);
  EXPECT_EQ(backlogs.at("mail").pending, 1);
  EXPECT_EQ(backlogs.at("mail").unknown, 0);
}

TEST_P(LedgerRecords, ADelayedCallIsOldOnlyOnceItsTimeHasCome) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto age = [&] { return read_ledger_backlog(*store_).at("gateway").oldest_pending; };
  ask({.key = "a", .at_seconds = now - 90'000, .not_before_seconds = now + 600});
  EXPECT_EQ(age().count(), 0);
  ask({.key = "b", .at_seconds = now - 90'000, .not_before_seconds = now - 100});
  EXPECT_LT(std::chrono::abs(age() - std::chrono::seconds(100)), std::chrono::seconds(60));
  ask({.key = "c", .at_seconds = now - 3'600});
  EXPECT_LT(std::chrono::abs(age() - std::chrono::seconds(3'600)), std::chrono::seconds(60));
}

TEST_P(LedgerRecords, NoMoreAreCountedThanItCostsLittleToCount) {
  ask_many(most_counted + 5, "planned");
  ask({.key = "m", .endpoint = "mail"});
  const auto backlogs = read_ledger_backlog(*store_);
  EXPECT_EQ(backlogs.at("gateway").pending, most_counted);
  EXPECT_EQ(backlogs.at("mail").pending, 1) << "one endpoint's backlog hides no other's";
}

ONCEWARD_ON_EVERY_STORE(LedgerRecords);

}  // namespace
}  // namespace onceward::records
