// Processes killed by SIGKILL at moments that no condition could name: nothing they leave behind is half, and whoever comes
// next goes on.
#include <signal.h>

#include <algorithm>
#include <thread>

#include "tests/faults/proxy.h"
#include "tests/faults/world.h"
#include "tests/fixtures/chance.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/store_under_test.h"
#include "tests/fixtures/waiting.h"

namespace onceward::faults {
namespace {

constexpr int killed = 128 + SIGKILL;

std::string name_of_backend(const testing::TestParamInfo<Backend>& of) { return of.param.name; }

// A moment of chance is what is wanted: no condition is awaited here.
void let_pass(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

class KilledWriter : public testing::TestWithParam<Backend> {
 protected:
  Process writer() {
    return Process({ONCEWARD_TEST_PROGRAMS "/writer", under_->address(), std::to_string(chance_.between(0, 1 << 30))});
  }
  // True: it was at work until it was killed.
  bool kill_after(Process& process, int milliseconds) {
    let_pass(std::chrono::milliseconds(milliseconds));
    process.signal(SIGKILL);
    const int ending = process.wait();
    EXPECT_EQ(ending, killed) << process.output();
    return ending == killed;
  }

  Chance chance_;
  std::unique_ptr<StoreUnderTest> under_ = GetParam().make();
  Declaration declaration_ = consumer();
  Enrolled enrolled_ = under_->open()->enroll(declaration_);
};
INSTANTIATE_TEST_SUITE_P(Faults, KilledWriter, testing::ValuesIn(backends()), name_of_backend);

TEST_P(KilledWriter, LeavesEachMessageAppliedOnceWithAllThatBelongsToIt) {
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    under_->close_reader();  // so that nobody is left when both are gone
    // Two at once: each sees what the other leaves behind.
    Process one = writer();
    Process two = writer();
    for (Process* const each : {&one, &two}) {
      await("a writer is at work", [&] { return !each->output().empty() || !each->running(); });
    }
    const bool as_meant = kill_after(one, chance_.between(5, 100)) && kill_after(two, chance_.between(0, 50));
    under_->await_rest();
    expect_all_or_nothing(under_->reader(), under_->table(""));
    ASSERT_TRUE(as_meant && !HasFailure()) << "in round " << round;
  }
  EXPECT_GT(under_->effects(), 0);
  // Whoever comes next finds them as they were left.
  std::vector<Message> some;
  for (int id = 0; id < 1000; ++id) some.push_back({.id = std::to_string(id)});
  const auto before = under_->effects();
  auto store = under_->open();
  const Verdicts answers = verdicts(apply(*store, enrolled_, Inbound(declaration_, some), leave_one_of_each));
  EXPECT_EQ(before + std::ranges::count(answers, Verdict::first), under_->effects());
  EXPECT_EQ(1000, under_->effects("length(message) < 4"));
  expect_all_or_nothing(under_->reader(), under_->table(""));
}

class KilledMigration : public testing::TestWithParam<Backend> {
 protected:
  void begin_round() {
    under_->start_over();
    under_->close_reader();
  }
  std::unique_ptr<Process> upgrader() {
    auto process =
        std::make_unique<Process>(std::vector<std::string>{ONCEWARD_TEST_PROGRAMS "/upgrader", under_->address()});
    await("the upgrader is ready", [&] { return !process->output().empty() || !process->running(); });
    return process;
  }
  // How a migration that nobody disturbs ends, and how long it takes.
  void migrate_undisturbed() {
    begin_round();
    auto process = upgrader();
    process->signal(SIGUSR1);
    ASSERT_EQ(process->wait(), 0) << process->output();
    const std::string output = process->output();
    took_us_ = std::stoi(output.substr(output.find("took ") + 5));
    clean_ = under_->schema_text();
    ASSERT_GT(clean_.size(), 1000u) << clean_;
  }
  std::chrono::microseconds moment() { return std::chrono::microseconds(chance_.between(0, took_us_)); }
  void expect_next_completes() {
    const SchemaStatus status = under_->open()->migrate();
    EXPECT_EQ(status.version, status.newest);
    EXPECT_EQ(under_->schema_text(), clean_);
  }

  Chance chance_;
  std::unique_ptr<StoreUnderTest> under_ = GetParam().make_bare();
  std::string clean_;
  int took_us_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Faults, KilledMigration, testing::ValuesIn(backends()), name_of_backend);

TEST_P(KilledMigration, IsCompletedByTheNext) {
  ASSERT_NO_FATAL_FAILURE(migrate_undisturbed());
  int in_the_middle = 0;
  for (int round = 0; round < 8; ++round) {
    begin_round();
    auto process = upgrader();
    process->signal(SIGUSR1);
    let_pass(moment());
    process->signal(SIGKILL);
    if (process->wait() == killed) ++in_the_middle;
    ASSERT_NO_THROW(expect_next_completes()) << "in round " << round;
  }
  EXPECT_GT(in_the_middle, 0);
}

TEST_P(KilledMigration, DoesNotDisturbAnotherAtTheSameTime) {
  ASSERT_NO_FATAL_FAILURE(migrate_undisturbed());
  int in_the_middle = 0;
  for (int round = 0; round < 5; ++round) {
    begin_round();
    auto one = upgrader();
    auto two = upgrader();
    one->signal(SIGUSR1);
    two->signal(SIGUSR1);
    let_pass(moment());
    one->signal(SIGKILL);
    if (one->wait() == killed) ++in_the_middle;
    EXPECT_EQ(two->wait(), 0) << two->output();
    EXPECT_EQ(under_->schema_text(), clean_) << "in round " << round;
    ASSERT_NO_THROW(expect_next_completes()) << "in round " << round;
  }
  EXPECT_GT(in_the_middle, 0);
}

// The moments that chance seldom finds: the server got this statement as the last, or lacks it as the first.
TEST(KilledPostgresMigration, IsCompletedByTheNextWhicheverStatementWasItsLast) {
  const Backend& direct = backends().at(1);
  ASSERT_EQ(direct.name, "postgres");
  const auto under = direct.make_bare();
  under->open()->migrate();
  const std::string clean = under->schema_text();
  Proxy proxy(port_of(under->address()));
  for (const char* const needle :
       {"BEGIN", "CREATE TABLE onceward.consumer", "INSERT INTO onceward.migration", "COMMIT"}) {
    for (const auto act : {Rule::Act::cut_before, Rule::Act::stall}) {
      under->start_over();
      Process process({ONCEWARD_TEST_PROGRAMS "/upgrader", proxy.instead_of(under->address())});
      await("the upgrader is ready", [&] { return !process.output().empty() || !process.running(); });
      const int fired = proxy.fired();
      proxy.set({.needle = needle, .act = act});
      process.signal(SIGUSR1);
      await("the statement was sent", [&] { return proxy.fired() > fired; });
      process.signal(SIGKILL);
      process.wait();
      proxy.cut_all();
      ASSERT_NO_THROW(under->open()->migrate()) << needle;
      EXPECT_EQ(under->schema_text(), clean) << needle;
    }
  }
}

}  // namespace
}  // namespace onceward::faults
