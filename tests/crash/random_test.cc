// Worker processes killed at random, for as long as ONCEWARD_TEST_SECONDS says (5; ./run torture: 60): three at a time, with
// duplicates, disorder and poison, and the same look from outside at the end. ONCEWARD_TEST_SEED gives a run back.
#include <cstdio>
#include <cstdlib>

#include "tests/crash/scene.h"
#include "tests/fixtures/chance.h"

namespace onceward::crash {
namespace {

using std::chrono::steady_clock;

std::chrono::seconds time_to_run() {
  const char* const given = std::getenv("ONCEWARD_TEST_SECONDS");
  return std::chrono::seconds(given == nullptr ? 5 : std::stoi(given));
}

constexpr std::uint64_t most_ahead = 1000;  // messages: what is left at the end is to be done soon

// A moment of chance is what is wanted: no condition is awaited here.
void let_pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

class RandomKills : public Scene {
 protected:
  RandomKills() { queue_settings_ = "visibility=1s&duplicates=0.3&reorder=50&seed=" + chance_.seed(); }

  // Some of all kinds; few that end the process, since each does so for its whole budget.
  void send_some() {
    std::vector<std::string> words;
    for (int i = chance_.between(5, 60); i > 0; --i) {
      const int draw = chance_.between(0, 999);
      words.emplace_back(draw < 20   ? "later"
                         : draw < 30 ? "never"
                         : draw < 40 ? "throws"
                         : draw < 50 ? "unreadable"
                                     : "good");
    }
    send(words);
    for (int i = 0; i < 3; ++i) send_again(chance_.between(0, static_cast<int>(sent_.size()) - 1));
  }
  std::unique_ptr<fixtures::Process> worker() {
    return start({{"bound_ms", "700"}, {"attempts", "10"}, {"batch", "40"}});
  }
  // Those that have ended by themselves are replaced.
  void replace_the_dead() {
    for (auto& each : workers_) {
      if (each && each->running()) continue;
      if (each) ++deaths_;
      each = worker();
    }
  }
  void kill_one() {
    auto& victim = workers_.at(static_cast<std::size_t>(chance_.between(0, 2)));
    victim->signal(SIGKILL);
    ++(victim->wait() == killed ? kills_ : deaths_);  // a message may have been faster
    victim.reset();
    // What it held comes back, and some of what the others hold, too.
    if (chance_.between(0, 2) == 0) give_back_deliveries();
  }
  void work_to_the_end() {
    fixtures::await("everything is done", [&] {
      const int before = deaths_;
      replace_the_dead();
      if (deaths_ > before) give_back_deliveries();
      return at_rest();
    });
    for (auto& each : workers_) each.reset();
  }

  fixtures::Chance chance_;
  std::array<std::unique_ptr<fixtures::Process>, 3> workers_;
  int kills_ = 0, deaths_ = 0;
};
ONCEWARD_ON_BOTH_STORES(RandomKills);

TEST_P(RandomKills, LoseNothingAndApplyOnce) {
  send({"abort", "good"});
  const auto end = steady_clock::now() + time_to_run();
  while (steady_clock::now() < end) {
    replace_the_dead();
    if (sender_.depth().ready < most_ahead) send_some();
    let_pass(std::chrono::milliseconds(chance_.between(0, 150)));
    kill_one();
  }
  work_to_the_end();
  expect_each_once();
  EXPECT_GT(kills_, 0);
  std::printf("%zu messages, %d workers killed, %d ended by a message on %s, seed %s\n", sent_.size(), kills_, deaths_,
              GetParam().name.c_str(), chance_.seed().c_str());
}

}  // namespace
}  // namespace onceward::crash
