// Messages that end the process: charged for it, quarantined after their budget; their neighbours are not charged, and have
// their effect.
#include "onceward/worker.h"
#include "tests/crash/scene.h"

namespace onceward::crash {
namespace {

constexpr int budget = 3;

class DeadlyMessages : public Scene {
 protected:
  // Starts worker after worker until everything is done; how each one that died has ended.
  std::vector<int> restart_until_rest(Options options = {}) {
    options["attempts"] = std::to_string(budget);
    std::vector<int> endings;
    for (bool rest = false; !rest;) {
      if (endings.size() > 3 * budget) throw std::runtime_error("worker after worker dies");
      const auto worker = start(options);
      fixtures::await("it dies or all is done", [&] { return (rest = at_rest()) || !worker->running(); });
      if (rest) break;
      endings.push_back(worker->wait());
      let_time_pass();
    }
    return endings;
  }

  void expect_only_quarantined(const std::string& id) {
    const auto rows = reader().read("SELECT id, reason, attempts FROM " + ours("quarantine"));
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0][0], id);
    EXPECT_EQ(rows[0][1], "attempts_exhausted");
    EXPECT_EQ(rows[0][2], std::to_string(budget));
  }
  // The most that one of the others was charged.
  std::int64_t most_charged_but(const std::string& id) {
    return reader().number("SELECT coalesce(max(charged), 0) FROM (SELECT count(*) AS charged FROM " + ours("attempt") +
                           " a JOIN " + ours("inbox") + " i ON i.key = a.key WHERE i.id <> '" + id +
                           "' GROUP BY a.key) AS each_of_them");
  }

  // In the middle of a batch, run until it is over.
  void expect_harms_only_itself(const std::string& word, int ending, const Options& options = {}) {
    send({"good", "good", "good", word, "good", "good", "good"});
    const std::vector<int> endings = restart_until_rest(options);
    // Once among others, which charges nobody, then alone.
    EXPECT_EQ(endings, std::vector<int>(1 + budget, ending));
    expect_only_quarantined("3");
    // One that runs alone is charged when it begins, and then it is done.
    EXPECT_LE(most_charged_but("3"), 1);
    expect_each_once();
  }
};
ONCEWARD_ON_BOTH_STORES(DeadlyMessages);

TEST_P(DeadlyMessages, ThatAbortAreQuarantinedAfterTheirBudgetAndHarmNoNeighbour) {
  expect_harms_only_itself("abort", 128 + SIGABRT);
}

TEST_P(DeadlyMessages, ThatNeverReturnEndTheProcessWithCode7AndHarmNoNeighbour) {
  expect_harms_only_itself("loop", exit_time_bound, {{"bound_ms", "250"}});
}

TEST_P(DeadlyMessages, ThatRunOutOfMemoryHarmNoNeighbour) {
  send({"good", "memory", "good"});
  const std::vector<int> endings = restart_until_rest();
  ASSERT_EQ(endings.size(), std::size_t{1 + budget});
  for (const int ending : endings) EXPECT_NE(ending, 0);  // by terminate(), or by the sanitizer's own way out
  expect_only_quarantined("1");
  expect_each_once();
}

TEST_P(DeadlyMessages, ThatTouchForeignMemoryHarmNoNeighbour) { expect_harms_only_itself("fault", 128 + SIGSEGV); }

TEST_P(DeadlyMessages, ThatTheKernelKillsForHarmNoNeighbour) { expect_harms_only_itself("killed", killed); }

// Among others that wait for their next attempt it is not charged, since it is not known which it was; then alone.
TEST_P(DeadlyMessages, ThatWereKeptForALaterAttemptHarmNoneOfThoseThatWaitWithThem) {
  send({"later", "later", "later abort", "later", "good"});
  const std::vector<int> endings = restart_until_rest();
  // One attempt was the failure that it returned.
  EXPECT_EQ(endings, std::vector<int>(budget, 128 + SIGABRT));
  expect_only_quarantined("2");
  EXPECT_LE(most_charged_but("2"), 2);  // the failure that they returned, and a start
  expect_each_once();
}

// Where nobody counts deliveries all of them begin together once, charged with it; then alone.
TEST_P(DeadlyMessages, FromASourceThatDoesNotCountHarmNoNeighbour) {
  send({"good", "good", "good", "abort", "good", "good", "good"});
  const std::vector<int> endings = restart_until_rest({{"forgetful", "1"}});
  EXPECT_EQ(endings, std::vector<int>(budget, 128 + SIGABRT)) << "the first among others";
  expect_only_quarantined("3");
  EXPECT_LE(most_charged_but("3"), 2);
  expect_each_once();
}

TEST_P(DeadlyMessages, TwoInOneBatchAreBothFound) {
  send({"good", "abort", "good", "killed", "good"});
  EXPECT_EQ(restart_until_rest().size(), std::size_t{1 + 2 * budget});
  EXPECT_EQ(count("SELECT reason FROM " + ours("quarantine")), (std::map<std::string, int>{{"attempts_exhausted", 2}}));
  expect_each_once();
}

}  // namespace
}  // namespace onceward::crash
