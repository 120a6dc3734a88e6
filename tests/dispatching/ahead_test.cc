// Calls that are marked before there is room to start them: at endpoints that know their keys, and at no others.
#include "tests/delivery/doubting_store.h"
#include "tests/dispatching/suite.h"

namespace onceward::dispatch {
namespace {

class MarkedAhead : public OnEveryStore {
 protected:
  MarkedAhead() {
    declaration_.idempotent = true;
    declaration_.key_lifetime = 1h;
    declaration_.concurrency = concurrency;
  }

  // Nothing is answered any more, what was answered is written down, and at least so many are marked and not sent.
  void hold_with_ahead(std::int64_t least) {
    await("calls are marked ahead", [&] {
      provider_.hold(true);
      await("it rests", [&] { return in_state("succeeded") + concurrency == std::ssize(provider_.all()); });
      if (ahead() >= least) return true;
      provider_.hold(false);
      return false;
    });
  }
  std::int64_t ahead() { return in_state("attempting") - concurrency; }
  void expect_each_once(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string key = fmt::format("k{}", i);
      EXPECT_EQ(provider_.calls_of(key), 1u) << key << ": " << attempts(key);
    }
  }

  static constexpr std::int64_t concurrency = 4;
};
ONCEWARD_ON_EVERY_STORE(MarkedAhead);

TEST_P(MarkedAhead, CallsAreMadeOnceAndNoMoreThanAllowedAreUnderWay) {
  stage_many(300);
  const auto dispatcher = start();
  hold_with_ahead(1);
  provider_.hold(false);
  await("all are made", [&] { return in_state("succeeded") == 300; });
  EXPECT_LE(provider_.most_under_way(), 4u);
  EXPECT_EQ(dispatcher->tally.started, 300u);
  expect_each_once(300);
}

TEST_P(MarkedAhead, NothingIsWhereAnUnknownOutcomeWouldBeAPersons) {
  declaration_.idempotent = false;
  stage_many(100);
  const auto dispatcher = start();
  for (const std::size_t made : {20u, 40u, 60u}) {
    await("some are made", [&] { return provider_.calls() >= made; });
    EXPECT_LE(in_state("attempting"), concurrency);
  }
  await("all are made", [&] { return in_state("succeeded") == 100; });
}

TEST_P(MarkedAhead, CallsAreGivenBackWhenTheDispatcherStops) {
  stage_many(2'000);
  auto dispatcher = start();
  hold_with_ahead(1);
  {
    const std::jthread stopping([&] { dispatcher->stop(); });
    await("only what is under way is ours", [&] { return in_state("attempting") == concurrency; });
    provider_.hold(false);
  }
  EXPECT_EQ(in_state("succeeded"), std::ssize(provider_.all()));
  EXPECT_EQ(in_state("succeeded") + in_state("planned"), 2'000);
  EXPECT_EQ(under_->reader().number(fmt::format("SELECT count(*) FROM {} WHERE state = 'planned' AND attempts > 0",
                                                under_->table("ledger"))),
            0)
      << "what was not sent uses no attempt";
}

TEST_P(MarkedAhead, CallsAreNotSentToAnEndpointThatHasGoneAway) {
  declaration_.circuit_failures = 1;
  declaration_.circuit_pause = 1h;
  options_.in_order = true;  // what was answered well before comes first
  stage_many(2'000);
  const auto dispatcher = start();
  hold_with_ahead(concurrency + 1);
  const std::size_t before = provider_.calls();
  provider_.answer_with(Kind::not_sent);
  provider_.hold(false);
  await("it is left alone", [&] { return in_state("attempting") == 0; });
  EXPECT_LE(provider_.calls(), before + 4);
  EXPECT_EQ(dispatcher->tally.circuit_opened, 1u);
}

TEST_P(MarkedAhead, CallsThatHaveWaitedTooLongAreGivenBack) {
  declaration_.lease = options_.longest + 200ms;
  declaration_.retry = {.attempts = 3, .first_delay = 10ms, .longest_delay = 20ms};
  stage_many(300);
  const auto dispatcher = start();
  hold_with_ahead(1);
  await("they are given back though there is no room yet", [&] {
    return under_->reader().number(fmt::format("SELECT count(*) FROM {} WHERE outcome = 'not_started'",
                                               under_->table("ledger_attempt"))) > 0;
  });
  provider_.hold(false);
  await("all are made", [&] { return in_state("succeeded") == 300; });
  expect_each_once(300);
}

TEST_P(MarkedAhead, CallsStayReadyWhenAnotherCommitIsInDoubt) {
  std::atomic<bool> doubtful = false;
  std::atomic<int> commits = 0;
  const auto decide = [&](bool) {
    ++commits;
    return doubtful.exchange(false) ? Fate::lands_unanswered : Fate::answered;
  };
  stage_many(300);
  const auto dispatcher =
      start([&](Store& store) -> std::unique_ptr<Store> { return std::make_unique<DoubtingStore>(store, decide); });
  hold_with_ahead(1);
  doubtful = true;
  await("leases are renewed by a commit in doubt", [&] { return !doubtful; });
  const int before = commits;
  await("what is ours was looked through, and the next commit begins", [&] { return commits > before + 1; });
  EXPECT_GE(ahead(), 1);
  provider_.hold(false);
  await("all are made", [&] { return in_state("succeeded") == 300; });
  expect_each_once(300);
}

TEST_P(MarkedAhead, CommitsInDoubtNeitherLoseACallNorMakeItTwice) {
  std::atomic<int> commits = 0;
  const auto decide = [&](bool) {
    const int number = commits++;
    if (number > 60) return Fate::answered;
    return number % 3 == 1 ? Fate::lands_unanswered : number % 5 == 2 ? Fate::is_lost : Fate::answered;
  };
  stage_many(300);
  const auto dispatcher =
      start([&](Store& store) -> std::unique_ptr<Store> { return std::make_unique<DoubtingStore>(store, decide); });
  await("all are made", [&] { return in_state("succeeded") == 300; });
  EXPECT_GT(commits, 10);
  EXPECT_EQ(dispatcher->tally.fenced, 0u);
  expect_each_once(300);
}

}  // namespace
}  // namespace onceward::dispatch
