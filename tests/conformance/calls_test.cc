// Calls that are staged: when they are due and who asked for them, how repeats are counted, and how one is cancelled.
#include <fmt/format.h>

#include <map>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;

class Calls : public OnEveryStore {
 protected:
  using Repeat = Store::Repeat;
  Calls() {
    store_->on_repeated_calls([this](std::string_view endpoint, Repeat repeat, std::uint64_t times) {
      counted_[{std::string(endpoint), repeat}] += times;
    });
  }
  static Handler staging(std::vector<Call> calls) {
    return [calls = std::move(calls)](const Envelope&, Transaction& transaction) -> Outcome {
      for (const Call& call : calls) transaction.stage(call);
      return Done{};
    };
  }
  void stage(const std::string& id, std::vector<Call> calls) {
    apply(Inbound(declaration_, {{.id = id}}), staging(std::move(calls)));
  }
  // In a unit of its own.
  Cancelled cancel(const std::string& id, const std::string& key, const std::string& tenant = "main") {
    Cancelled answer = Cancelled::not_found;
    apply(Inbound(declaration_, {{.id = id, .tenant = tenant}}),
          [&](const Envelope&, Transaction& transaction) -> Outcome {
            answer = transaction.cancel("gateway", key);
            return Done{};
          });
    return answer;
  }
  std::string of(const std::string& key, const std::string& column) {
    return under_->reader().value(
        fmt::format("SELECT {} FROM {} WHERE idempotency_key = '{}'", column, under_->table("ledger"), key));
  }
  void put(const std::string& key, const std::string& state) {
    under_->reader().run(
        fmt::format("UPDATE {} SET state = '{}' WHERE idempotency_key = '{}'", under_->table("ledger"), state, key));
  }

  std::map<std::pair<std::string, Repeat>, std::uint64_t> counted_;
};
ONCEWARD_ON_EVERY_STORE(Calls);

TEST_P(Calls, ArePlannedOrWaitAndSayWhenTheyAreDueAndWhoAsked) {
  const Timestamp tomorrow = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now() + 24h);
  const Timestamp past = tomorrow - 48h;
  stage("m", {Call{.endpoint = "gateway", .key = "now", .body = "{}"},
              Call{.endpoint = "gateway", .key = "later", .body = "{}", .not_before = tomorrow},
              Call{.endpoint = "gateway", .key = "long ago", .body = "{}", .not_before = past},
              Call{.endpoint = "gateway", .key = "approved", .body = "{}", .approval = true, .requested_by = "ada"}});
  for (const std::string key : {"now", "later", "long ago"}) EXPECT_EQ(of(key, "state"), "planned");
  EXPECT_EQ(of("approved", "state"), "waiting");
  EXPECT_EQ(of("later", "due_at"), of("later", "not_before"));
  for (const std::string key : {"now", "long ago", "approved"}) EXPECT_EQ(of(key, "due_at"), of(key, "created_at"));
  EXPECT_EQ(of("now", "requested_by"), declaration_.name);
  EXPECT_EQ(of("approved", "requested_by"), "ada");
}

TEST_P(Calls, ThatRepeatAnIntentAreCountedForTheirEndpoint) {
  const Call capture{.endpoint = "gateway", .key = "capture 1", .body = "{}"};
  const Call mail{.endpoint = "mail", .key = "mail 1", .body = "{}"};
  stage("a", {capture, mail});
  EXPECT_TRUE(counted_.empty());
  stage("b", {capture, {.endpoint = "gateway", .key = "capture 2", .body = "{}"}, mail, mail});
  EXPECT_EQ((counted_[{"gateway", Repeat::same}]), 1u);
  EXPECT_EQ((counted_[{"mail", Repeat::same}]), 2u) << "one of them was staged in the same unit";
  EXPECT_EQ(under_->rows_in("ledger"), 3);
}

TEST_P(Calls, OfAUnitThatDidNotCommitAreNotCounted) {
  stage("a", {Call{.endpoint = "gateway", .key = "capture 1", .body = "{}"}});
  {
    auto unit = begin();
    unit->whole().stage(Call{.endpoint = "gateway", .key = "capture 1", .body = "{}"});
    unit->flush();
  }
  {
    auto unit = begin();
    unit->mark();
    unit->whole().stage(Call{.endpoint = "gateway", .key = "capture 1", .body = "{}"});
    unit->flush();
    unit->back_to_mark();
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  EXPECT_TRUE(counted_.empty());
}

TEST_P(Calls, WithOtherContentAreCountedAsConflicts) {
  stage("a", {Call{.endpoint = "gateway", .key = "capture 1", .body = "one"}});
  EXPECT_EQ(fault_of([&] { stage("b", {Call{.endpoint = "gateway", .key = "capture 1", .body = "two"}}); }),
            FaultCode::call_conflict);
  EXPECT_EQ((counted_[{"gateway", Repeat::conflict}]), 1u);
  EXPECT_EQ(fault_of([&] {
              stage("c", {Call{.endpoint = "mail", .key = "1", .body = "one"},
                          Call{.endpoint = "mail", .key = "1", .body = "two"}});
            }),
            FaultCode::call_conflict);
  EXPECT_EQ((counted_[{"mail", Repeat::conflict}]), 1u);
  EXPECT_EQ((counted_[{"gateway", Repeat::same}]), 0u);
}

TEST_P(Calls, ThatWereNotAttemptedCanBeCancelled) {
  stage("a", {Call{.endpoint = "gateway", .key = "planned", .body = "{}"},
              Call{.endpoint = "gateway", .key = "waiting", .body = "{}", .approval = true},
              Call{.endpoint = "gateway", .key = "approved", .body = "{}"}});
  put("approved", "approved");
  for (const std::string key : {"planned", "waiting", "approved"}) {
    EXPECT_EQ(cancel("cancel " + key, key), Cancelled::cancelled);
    EXPECT_EQ(of(key, "state"), "cancelled");
    EXPECT_EQ(of(key, "decided_by"), declaration_.name);
    EXPECT_EQ(of(key, "coalesce(CAST(due_at AS text), 'never')"), "never");
    EXPECT_EQ(cancel("again " + key, key), Cancelled::cancelled);
  }
  stage("b", {Call{.endpoint = "gateway", .key = "planned", .body = "{}"}});
  EXPECT_EQ(of("planned", "state"), "cancelled") << "the same intent";
}

TEST_P(Calls, ThatHaveBegunOrEndedCannotBeCancelled) {
  stage("a", {Call{.endpoint = "gateway", .key = "k", .body = "{}"}});
  for (const std::string state : {"attempting", "succeeded", "failed", "unknown", "refused"}) {
    put("k", state);
    EXPECT_EQ(cancel(state, "k"), Cancelled::too_late) << state;
    EXPECT_EQ(of("k", "state"), state);
  }
}

TEST_P(Calls, OfAnotherTenantAreNotFound) {
  stage("a", {Call{.endpoint = "gateway", .key = "k", .body = "{}"}});
  EXPECT_EQ(cancel("b", "k", "another"), Cancelled::not_found);
  EXPECT_EQ(cancel("c", "another"), Cancelled::not_found);
  EXPECT_EQ(of("k", "state"), "planned");
}

TEST_P(Calls, OfTheSameUnitCanBeCancelled) {
  auto unit = begin();
  Transaction& whole = unit->whole();
  whole.stage(Call{.endpoint = "gateway", .key = "k", .body = "{}"});
  whole.stage(Outgoing{.type = "t", .key = "k", .payload = "{}", .id = "1"});
  EXPECT_EQ(whole.cancel("gateway", "k"), Cancelled::cancelled);
  whole.stage(Call{.endpoint = "gateway", .key = "other", .body = "{}"});
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(of("k", "state"), "cancelled");
  EXPECT_EQ(of("other", "state"), "planned");
  EXPECT_EQ(under_->rows_in("outbox"), 1);
}

TEST_P(Calls, AreNotCancelledByAUnitThatDidNotCommit) {
  stage("a", {Call{.endpoint = "gateway", .key = "k", .body = "{}"}});
  begin()->whole().cancel("gateway", "k");
  EXPECT_EQ(of("k", "state"), "planned");
}

}  // namespace
}  // namespace onceward
