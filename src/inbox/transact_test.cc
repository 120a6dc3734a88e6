// The loop around a unit of work, against a store that follows a script.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <stdexcept>

#include "onceward/port/store.h"
#include "src/inbox/pause.h"

namespace onceward {
namespace {

using Script = std::deque<std::variant<Commit, Fault>>;

struct Seen {
  int begun = 0;
  int ended = 0;  // by commit(), whatever it said
  int open = 0;
};

class ScriptedUnit final : public UnitOfWork {
 public:
  ScriptedUnit(Script& script, Seen& seen, bool claims) : script_(script), seen_(seen), claims_(claims) {
    ++seen_.begun;
    ++seen_.open;
  }
  ~ScriptedUnit() override { --seen_.open; }

  void claim(std::span<const Claimant>) override {}
  bool claimed() const override { return claims_; }
  bool first(std::size_t) const override { return true; }
  std::span<const Answer> answers() override { return answers_; }
  Transaction& on(std::size_t) override { throw std::logic_error("not part of the script"); }
  bool forget(std::size_t) override { return true; }
  Transaction& whole() override { throw std::logic_error("not part of the script"); }
  void finish(std::size_t, Outcome) override {}
  void park(const Envelope&, std::string_view, std::string_view) override {}
  void park(const Claimant&, std::string_view, std::string_view) override {}
  void flush() override {}
  void mark() override {}
  void back_to_mark() override {}
  std::optional<std::size_t> culprit() const override { return std::nullopt; }
  std::vector<int> attempts(std::span<const Key>) override { return {}; }
  void count(const Key&, Attempt, std::string_view) override {}
  std::optional<Kept> start_due(std::chrono::milliseconds) override { return std::nullopt; }
  std::vector<Kept> take_due(std::size_t, std::chrono::milliseconds) override { return {}; }
  void resume(std::span<const Claimant>) override {}
  void resolve(std::int64_t) override {}
  std::vector<TakenOver> take_over(std::span<const std::string>) override { return {}; }
  Stream begin_stream(const Stream&, std::int64_t) override { return {}; }
  Commit commit() override {
    ++seen_.ended;
    const auto next = script_.front();
    script_.pop_front();
    if (const auto* fault = std::get_if<Fault>(&next)) throw *fault;
    answers_[0].by_operation = true;
    return std::get<Commit>(next);
  }

 private:
  Script& script_;
  Seen& seen_;
  const bool claims_;
  std::vector<Answer> answers_{Answer{}};
};

class ScriptedStore final : public Store {
 public:
  explicit ScriptedStore(Script endings) : script(std::move(endings)) {}
  SchemaStatus migrate() override { return {}; }
  SchemaStatus schema() override { return {}; }
  Enrolled enroll(const Declaration&) override { return {}; }
  std::unique_ptr<UnitOfWork> begin(const Enrolled&) override {
    return std::make_unique<ScriptedUnit>(script, seen, claims);
  }
  std::unique_ptr<Look> look() override { throw std::logic_error("not part of the script"); }
  std::optional<std::chrono::milliseconds> next_due(const Enrolled&) override { return std::nullopt; }
  void cancel() noexcept override {}
  StoreCounters counters() const override { return {}; }
  Dialect dialect() const override { return Dialect::sqlite; }
  std::string describe() const override { return "script"; }

  Script script;
  Seen seen;
  bool claims = true;
};

constexpr RetryLimit at_once(int attempts) {
  return {attempts, std::chrono::milliseconds{0}, std::chrono::milliseconds{0}};
}
Fault fault(FaultCode code, Poisons poisons = Poisons::transaction) { return {code, poisons, "scripted"}; }
const auto no_work = [](UnitOfWork&) {};

TEST(Transact, CommittedUnitReturnsItsAnswers) {
  ScriptedStore store({Commit::committed});
  const auto answers = transact(store, {}, at_once(3), no_work);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].by_operation);
  EXPECT_EQ(store.seen.begun, 1);
}

TEST(Transact, UnitThatFailedIsNotRunAgain) {
  ScriptedStore store({Commit::failed, Commit::committed});
  try {
    transact(store, {}, at_once(3), no_work);
    FAIL() << "it failed";
  } catch (const Fault& last) {
    EXPECT_EQ(last.fault(), FaultCode::transaction_failed);
  }
  EXPECT_EQ(store.seen.begun, 1);
}

TEST(Transact, WorkThatClaimsNothingIsNotRunAgainAfterACommitInDoubt) {
  ScriptedStore store({Commit::in_doubt, Commit::committed});
  store.claims = false;
  EXPECT_THROW(transact(store, {}, at_once(3), no_work), Fault);
  EXPECT_EQ(store.seen.begun, 1);
}

TEST(Transact, CommitInDoubtRunsTheWorkAgainInANewUnit) {
  ScriptedStore store({Commit::in_doubt, Commit::in_doubt, Commit::committed});
  int runs = 0;
  transact(store, {}, at_once(3), [&](UnitOfWork&) {
    EXPECT_EQ(store.seen.open, 1);
    ++runs;
  });
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(store.seen.begun, 3);
  EXPECT_EQ(store.seen.open, 0);
}

TEST(Transact, TransientFaultsAreRetriedUpToTheLimitAndTheLastIsThrown) {
  ScriptedStore store({fault(FaultCode::lost_race), fault(FaultCode::store_unavailable, Poisons::connection),
                       fault(FaultCode::busy), Commit::committed});
  try {
    transact(store, {}, at_once(3), no_work);
    FAIL() << "the limit was passed";
  } catch (const Fault& last) {
    EXPECT_EQ(last.fault(), FaultCode::busy);
  }
  EXPECT_EQ(store.seen.begun, 3);
}

TEST(Transact, CommitThatIsNeverConfirmedEndsAsAFaultAtTheLimit) {
  ScriptedStore store({Commit::in_doubt, Commit::in_doubt, Commit::committed});
  try {
    transact(store, {}, at_once(2), no_work);
    FAIL() << "the limit was passed";
  } catch (const Fault& last) {
    EXPECT_EQ(last.fault(), FaultCode::store_unavailable);
  }
  EXPECT_EQ(store.seen.begun, 2);
}

TEST(Transact, FaultThatARetryCannotMendIsThrownAtOnce) {
  ScriptedStore store({fault(FaultCode::constraint_violated), Commit::committed});
  EXPECT_THROW(transact(store, {}, at_once(8), no_work), Fault);
  EXPECT_EQ(store.seen.begun, 1);
}

TEST(Transact, FaultThatPoisonsTheProcessIsThrownEvenIfItLooksTransient) {
  ScriptedStore store({fault(FaultCode::store_unavailable, Poisons::process), Commit::committed});
  EXPECT_THROW(transact(store, {}, at_once(8), no_work), Fault);
  EXPECT_EQ(store.seen.begun, 1);
}

TEST(Transact, WhatTheWorkThrowsPassesThroughAndNothingIsCommitted) {
  ScriptedStore store({Commit::committed});
  EXPECT_THROW(transact(store, {}, at_once(8), [](UnitOfWork&) { throw std::domain_error("mine"); }),
               std::domain_error);
  EXPECT_EQ(store.seen.ended, 0);
  EXPECT_EQ(store.seen.open, 0);
}

TEST(Pause, DoublesUpToItsBound) {
  using std::chrono::milliseconds;
  const RetryLimit limit{8, milliseconds{2}, milliseconds{9}};
  EXPECT_EQ(longest_pause(limit, 1), milliseconds{2});
  EXPECT_EQ(longest_pause(limit, 2), milliseconds{4});
  EXPECT_EQ(longest_pause(limit, 3), milliseconds{8});
  EXPECT_EQ(longest_pause(limit, 4), milliseconds{9});
  EXPECT_EQ(longest_pause(limit, 1'000'000), milliseconds{9});
}

TEST(Pause, NeverPassesItsBoundWhateverTheFirstDelay) {
  using std::chrono::milliseconds;
  EXPECT_EQ(longest_pause({8, milliseconds{50}, milliseconds{9}}, 1), milliseconds{9});
  EXPECT_EQ(longest_pause({8, milliseconds{0}, milliseconds{9}}, 30).count(), 0);
  EXPECT_EQ(longest_pause({8, milliseconds{-1}, milliseconds{-1}}, 30).count(), 0);
}

}  // namespace
}  // namespace onceward
