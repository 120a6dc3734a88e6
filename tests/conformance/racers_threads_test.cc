// Many claim the same at the same time: one wins, the others wait and then know.
#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "tests/conformance/suite.h"
#include "tests/fixtures/process.h"

namespace onceward {
namespace {

using enum Verdict;

constexpr int racers = 32;

struct Arrival {
  explicit Arrival(std::latch& latch) : latch_(latch) {}
  ~Arrival() { latch_.count_down(); }
  std::latch& latch_;
};

class Racers : public OnEveryStore {
 protected:
  // Another connection's claim of the same message, begun while ours is still open.
  std::future<Verdicts> claim_elsewhere(const Inbound& inbound) {
    auto begun = std::make_shared<std::latch>(1);
    auto answer = std::async(std::launch::async, [this, begun, &inbound] {
      auto store = under_->open();
      begun->count_down();
      return verdicts(fixtures::apply(*store, enrolled_, inbound, insert_effect, {.attempts = 1}));
    });
    begun->wait();
    under_->await_waiter();
    return answer;
  }
};
ONCEWARD_ON_EVERY_STORE(Racers);

TEST_P(Racers, SecondClaimantWaitsAndIsADuplicateAfterTheCommit) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  run_handlers(*unit, inbound);
  unit->flush();
  auto second = claim_elsewhere(inbound);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(second.get(), Verdicts{duplicate});
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Racers, SecondClaimantWaitsAndIsFirstAfterTheRollback) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  run_handlers(*unit, inbound);
  unit->flush();
  auto second = claim_elsewhere(inbound);
  unit.reset();
  EXPECT_EQ(second.get(), Verdicts{first});
  EXPECT_EQ(under_->effects(), 1);
}

TEST_P(Racers, ClaimHeldPastTheDeadlineIsBusyAndNeverFirst) {
  const Inbound inbound(declaration_, {Message{}});
  auto unit = begin();
  run_handlers(*unit, inbound);
  unit->flush();
  auto hasty = under_->open({.lock = std::chrono::milliseconds(100)});
  EXPECT_EQ(fault_of([&] { fixtures::apply(*hasty, enrolled_, inbound, insert_effect, {.attempts = 1}); }),
            FaultCode::busy);
  ASSERT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(verdicts(fixtures::apply(*hasty, enrolled_, inbound)), Verdicts{duplicate});
}

// On SQLite a transaction that has read and then wants to write is refused if another has written meanwhile.
TEST_P(Racers, UnitThatReadsBeforeItWritesIsNotOvertaken) {
  const Inbound mine(declaration_, {{.id = "mine"}});
  const Inbound theirs(declaration_, {{.id = "theirs"}});
  auto unit = begin();
  unit->whole().query("SELECT count(*) FROM effect");
  auto other = std::async(std::launch::async, [&] {
    auto store = under_->open();
    return verdicts(fixtures::apply(*store, enrolled_, theirs));
  });
  other.wait_for(std::chrono::milliseconds(300));  // long enough to overtake, if it can
  run_handlers(*unit, mine);
  EXPECT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(other.get(), Verdicts{first});
  EXPECT_EQ(under_->effects(), 2);
}

TEST_P(Racers, OneOfManyThreadsAppliesEachMessage) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}, {.id = "c"}});
  std::atomic<int> firsts{0};
  std::atomic<int> duplicates{0};
  std::vector<std::string> failures(racers);
  {
    std::latch start(racers);
    std::vector<std::jthread> threads;
    for (std::string& failure : failures) {
      threads.emplace_back([&] {
        try {
          std::unique_ptr<Store> store;
          {
            const Arrival arrival(start);  // even if it does not open: the others must not wait in vain
            store = under_->open();
          }
          start.wait();
          for (const Verdict verdict : verdicts(fixtures::apply(*store, enrolled_, inbound))) {
            if (verdict == first) ++firsts;
            if (verdict == duplicate) ++duplicates;
          }
        } catch (const std::exception& thrown) {
          failure = thrown.what();
        }
      });
    }
  }
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  EXPECT_EQ(firsts, 3);
  EXPECT_EQ(duplicates, 3 * (racers - 1));
  EXPECT_EQ(under_->effects(), 3);
}

TEST_P(Racers, OneOfManyThreadsAppliesAnOperation) {
  declaration_ = consumer_with_operation("capturing");
  enrolled_ = store_->enroll(declaration_);
  std::atomic<int> firsts{0};
  {
    std::vector<std::jthread> threads;
    for (int racer = 0; racer < racers; ++racer) {
      threads.emplace_back([&, racer] {
        const Inbound inbound(declaration_, {{.id = std::to_string(racer), .idempotency_key = "capture 1"}});
        auto store = under_->open();
        for (const Answer& answer : fixtures::apply(*store, enrolled_, inbound)) {
          if (answer.verdict == first) ++firsts;
        }
      });
    }
  }
  EXPECT_EQ(firsts, 1);
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(under_->rows_in("inbox"), racers);
}

class ProcessRacers : public OnEveryStore {};
INSTANTIATE_TEST_SUITE_P(Store, ProcessRacers,
                         testing::ValuesIn(fixtures::backends_that(&Capabilities::several_processes)), backend_name);

TEST_P(ProcessRacers, OneOfManyProcessesAppliesEachMessage) {
  TemporaryDirectory gate;
  std::vector<std::unique_ptr<Process>> processes;
  for (int racer = 0; racer < racers; ++racer) {
    processes.push_back(std::make_unique<Process>(
        std::vector<std::string>{ONCEWARD_TEST_PROGRAMS "/racer", under_->address(), gate.path() + "/open", "20"}));
  }
  run_well({"touch", gate.path() + "/open"});
  int firsts = 0;
  int duplicates = 0;
  for (auto& process : processes) {
    ASSERT_EQ(process->wait(std::chrono::seconds(120)), 0) << process->output();
    int own_firsts = 0;
    int own_duplicates = 0;
    ASSERT_EQ(std::sscanf(process->output().c_str(), "first %d duplicate %d", &own_firsts, &own_duplicates), 2)
        << process->output();
    firsts += own_firsts;
    duplicates += own_duplicates;
  }
  EXPECT_EQ(firsts, 20);
  EXPECT_EQ(duplicates, 20 * (racers - 1));
  EXPECT_EQ(under_->effects(), 20);
  EXPECT_EQ(under_->reader().number("SELECT count(DISTINCT message) FROM effect"), 20);
}

class ConcurrentUnits : public OnEveryStore {};
INSTANTIATE_TEST_SUITE_P(Store, ConcurrentUnits,
                         testing::ValuesIn(fixtures::backends_that(&Capabilities::concurrent_units)), backend_name);

TEST_P(ConcurrentUnits, UnitsWithDifferentMessagesDoNotWaitForOneAnother) {
  const Inbound mine(declaration_, {{.id = "mine"}});
  const Inbound theirs(declaration_, {{.id = "theirs"}});
  auto other = under_->open({.lock = std::chrono::milliseconds(1000)});
  auto unit = begin();
  run_handlers(*unit, mine);
  unit->flush();
  EXPECT_EQ(verdicts(fixtures::apply(*other, enrolled_, theirs, insert_effect, {.attempts = 1})), Verdicts{first});
  EXPECT_EQ(unit->commit(), Commit::committed);
}

}  // namespace
}  // namespace onceward
