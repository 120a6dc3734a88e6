// Whose attempt it is: dispatchers that die, are late, are told nothing of their commits, or share an endpoint.
#include <atomic>

#include "tests/delivery/doubting_store.h"
#include "tests/dispatching/suite.h"

namespace onceward::dispatch {
namespace {

class Leases : public OnEveryStore {
 protected:
  // Of our attempt, which another takes for unknown.
  void let_lease_end(const std::string& key) {
    put(key, fmt::format("owner = owner, lease_until = {0}, due_at = {0}", from_now(-1s)));
  }
  void await_held(const std::string& key) {
    await("the call is under way", [&] { return provider_.calls_of(key) > 0 && state(key) == "attempting"; });
  }
};
ONCEWARD_ON_EVERY_STORE(Leases);

// A store that is away for as long as it is told.
class AwayStore final : public fixtures::ForwardingStore {
 public:
  AwayStore(Store& store, const std::atomic<bool>& away) : ForwardingStore(store), away_(away) {}
  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    require_here();
    return store_.begin(consumer);
  }
  std::unique_ptr<Look> look() override {
    require_here();
    return store_.look();
  }

 private:
  void require_here() const {
    if (away_) throw Fault(FaultCode::store_unavailable, Poisons::connection, "away, as told");
  }
  const std::atomic<bool>& away_;
};

// A store whose first commit that marks a call takes long.
class SlowStore final : public fixtures::ForwardingStore {
 public:
  SlowStore(Store& store, std::chrono::milliseconds takes) : ForwardingStore(store), takes_(takes) {}
  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    return std::make_unique<Unit>(store_.begin(consumer), *this);
  }

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, SlowStore& store) : ForwardingUnit(std::move(unit)), store_(store) {}
    Commit commit() override {
      const Commit ending = unit_->commit();
      if (store_.commits_++ < 3) std::this_thread::sleep_for(store_.takes_);  // a pause, and no condition
      return ending;
    }

   private:
    SlowStore& store_;
  };
  const std::chrono::milliseconds takes_;
  int commits_ = 0;
};

TEST_P(Leases, AnAttemptOfADeadDispatcherIsUnknownAndNeverMadeAgain) {
  stage("k");
  abandon("k");
  const auto dispatcher = start();
  await_state("k", "unknown");
  EXPECT_EQ(of("k", "code"), "lease_expired");
  EXPECT_EQ(attempts("k"), "call unknown");
  let_another_pass();
  EXPECT_EQ(provider_.calls_of("k"), 0u);
  await("it is counted", [&] { return dispatcher->tally.expired == 1u; });
}

TEST_P(Leases, AnAttemptWhoseLeaseRunsIsLeftAlone) {
  stage("k");
  abandon("k", 1h);
  const auto dispatcher = start();
  let_another_pass();
  EXPECT_EQ(state("k"), "attempting");
  EXPECT_EQ(of("k", "owner"), "dead");
}

TEST_P(Leases, ADefiniteAnswerThatComesLateEndsTheDoubt) {
  provider_.hold(true);
  const auto slow = start();
  stage("k");
  await_held("k");
  let_lease_end("k");
  const auto other = start();
  await_state("k", "unknown");
  provider_.hold(false);
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "call succeeded");
  EXPECT_EQ(provider_.calls_of("k"), 1u);
  await("it is counted", [&] { return other->tally.expired == 1u; });
}

TEST_P(Leases, AnAnswerThatComesTooLateChangesOnlyTheRowOfItsAttempt) {
  provider_.hold(true);
  provider_.answer_with(Kind::failed);
  const auto slow = start();
  stage("k");
  await_held("k");
  put("k", "state = 'succeeded', owner = '', lease_until = NULL, due_at = NULL, code = 'a person knew'");
  provider_.hold(false);
  await("the answer is written down", [&] { return attempts("k") == "call failed"; });
  EXPECT_EQ(state("k"), "succeeded");
  EXPECT_EQ(of("k", "code"), "a person knew");
  await("it is counted", [&] { return slow->tally.fenced == 1u; });
}

TEST_P(Leases, LeasesAreRenewedWhileCallsAreUnderWay) {
  declaration_.lease = 600ms;
  provider_.hold(true);
  const auto dispatcher = start();
  stage("k");
  await_held("k");
  const std::string first = of("k", "lease_until");
  await("it is renewed", [&] { return of("k", "lease_until") > first; });
  EXPECT_EQ(state("k"), "attempting");
  provider_.hold(false);
  await_state("k", "succeeded");
}

TEST_P(Leases, NothingIsStartedWhenTheLeaseLeftIsShorterThanACall) {
  declaration_.lease = options_.longest + 150ms;
  const auto dispatcher =
      start([](Store& store) -> std::unique_ptr<Store> { return std::make_unique<SlowStore>(store, 250ms); });
  stage("k");
  await_state("k", "succeeded");
  EXPECT_NE(attempts("k").find("call not_started, "), std::string::npos) << attempts("k");
  EXPECT_EQ(provider_.calls_of("k"), 1u);
  EXPECT_EQ(of("k", "attempts"), "1");
}

TEST_P(Leases, CommitsInDoubtNeitherLoseACallNorMakeItTwice) {
  std::atomic<int> commits = 0;
  const auto decide = [&](bool) {
    const int number = commits++;
    if (number > 30) return Fate::answered;
    return number % 3 == 1 ? Fate::lands_unanswered : number % 3 == 2 ? Fate::is_lost : Fate::answered;
  };
  stage_many(40);
  declaration_.concurrency = 4;
  provider_.answer_with([](const Provider::Request& request, int times) {
    return Provider::told(request.key.ends_with("7") && times == 1 ? Kind::later : Kind::succeeded);
  });
  const auto dispatcher =
      start([&](Store& store) -> std::unique_ptr<Store> { return std::make_unique<DoubtingStore>(store, decide); });
  await("all are made", [&] { return in_state("succeeded") == 40; });
  for (int i = 0; i < 40; ++i) {
    const std::string key = fmt::format("k{}", i);
    EXPECT_EQ(provider_.calls_of(key), i % 10 == 7 ? 2u : 1u) << key << ": " << attempts(key);
    EXPECT_EQ(of(key, "attempts"), i % 10 == 7 ? "2" : "1") << key;
  }
  EXPECT_GT(commits, 10);
  EXPECT_EQ(dispatcher->tally.fenced, 0u);
}

// A store whose first commit is told to be in doubt, and lands when the next unit has begun on another connection.
class LateStore final : public fixtures::ForwardingStore {
 public:
  LateStore(Store& store, std::unique_ptr<Store> next) : ForwardingStore(store), next_(std::move(next)) {}
  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    if (!doubted_) return std::make_unique<Unit>(store_.begin(consumer), *this);
    begun_ = true;
    return next_->begin(consumer);
  }
  std::unique_ptr<Look> look() override { return doubted_ ? next_->look() : store_.look(); }

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, LateStore& store) : ForwardingUnit(std::move(unit)), store_(store) {}
    Commit commit() override {
      unit_->flush();
      store_.doubted_ = true;
      store_.landing_ = std::jthread([unit = std::move(unit_), &store = store_] {
        await("the next unit begins or waits", [&] { return store.begun_.load(); });
        std::this_thread::sleep_for(300ms);  // a pause, and no condition: it reads meanwhile
        unit->commit();
      });
      return Commit::in_doubt;
    }

   private:
    LateStore& store_;
  };
  std::unique_ptr<Store> next_;
  std::atomic<bool> doubted_ = false, begun_ = false;
  std::jthread landing_;
};

TEST_P(Leases, ACommitThatLandsLateHoldsBackNoCallForGood) {
  stage("k");
  const auto dispatcher =
      start([&](Store& store) -> std::unique_ptr<Store> { return std::make_unique<LateStore>(store, under_->open()); });
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "call not_started, call succeeded");
  EXPECT_EQ(provider_.calls_of("k"), 1u);
}

TEST_P(Leases, AnAnswerOutlivesAnOutageOfTheStore) {
  std::atomic<bool> away = false;
  provider_.hold(true);
  const auto dispatcher =
      start([&](Store& store) -> std::unique_ptr<Store> { return std::make_unique<AwayStore>(store, away); });
  stage("k");
  await_held("k");
  away = true;
  provider_.hold(false);
  await("it says what it waits for", [&] { return (**dispatcher).trouble() == "away, as told"; });
  EXPECT_EQ(state("k"), "attempting");
  away = false;
  await_state("k", "succeeded");
  await("all is well", [&] { return (**dispatcher).trouble().empty(); });
  EXPECT_EQ(dispatcher->tally.store_outages, 1u);
  EXPECT_EQ(provider_.calls(), 1u);
}

TEST_P(Leases, TwoDispatchersShareAnEndpointAndNeverBothSend) {
  declaration_.concurrency = 4;
  provider_.answer_with([](const Provider::Request& request, int times) {
    return Provider::told(request.key.ends_with("3") && times == 1 ? Kind::later : Kind::succeeded);
  });
  stage_many(200);
  const auto one = start(), two = start();
  await("all are made", [&] { return in_state("succeeded") == 200; });
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(provider_.calls_of(fmt::format("k{}", i)), i % 10 == 3 ? 2u : 1u) << i;
  }
  EXPECT_EQ(one->tally.started + two->tally.started, 220u);
  EXPECT_GT(one->tally.started, 0u);
  EXPECT_GT(two->tally.started, 0u);
}

TEST_P(Leases, ADispatcherThatStopsWaitsForItsAnswersAndStartsNothing) {
  provider_.hold(true);
  auto dispatcher = start();
  stage("k");
  await_held("k");
  std::jthread stopping([&] { dispatcher->stop(); });
  stage("later");
  provider_.hold(false);
  stopping.join();
  EXPECT_EQ(state("k"), "succeeded");
}

TEST_P(Leases, DecisionsOfPeopleDrawNumbersOfAttemptsToo) {
  stage("k");
  under_->reader().run(fmt::format(
      "INSERT INTO {} (key, number, kind, who, began_at, outcome) SELECT key, 1, 'person', 'ada', {}, 'retry' FROM {}",
      under_->table("ledger_attempt"), from_now(0ms), under_->table("ledger")));
  const auto dispatcher = start();
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "person retry, call succeeded");
}

}  // namespace
}  // namespace onceward::dispatch
