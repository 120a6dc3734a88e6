// Every crash point of a dispatcher: it is killed exactly there, another goes on, and the outside world's own log tells what was
// done: no key twice unless the endpoint is idempotent, none lost, and what is unknown is seen to be.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "tests/crash/scene.h"

namespace onceward::crash {
namespace {

class DispatchCrashPoints : public Scene {
 protected:
  using Words = std::vector<std::string>;

  void stage(int count, bool to_be_approved = false) {
    const auto store = under_->open();
    const auto unit = store->begin({});
    for (int i = 0; i < count; ++i) {
      staged_.push_back(fmt::format("k-{}", staged_.size()));
      unit->whole().stage(Call{.endpoint = "gateway", .key = staged_.back(), .body = "{}", .approval = to_be_approved});
    }
    ASSERT_EQ(unit->commit(), Commit::committed);
    if (to_be_approved) approve_all();
  }
  void approve_all() {
    const bool sqlite = GetParam().name == "sqlite";
    const std::string tomorrow =
        sqlite ? "CAST(unixepoch('subsec') * 1000000 AS INTEGER) + 86400000000" : "now() + interval '1 day'";
    reader().run("UPDATE " + ours("ledger") + " SET state = 'approved', decided_by = 'ada', approved_until = " +
                 tomorrow + " WHERE state = 'waiting'");
  }
  std::unique_ptr<fixtures::Process> start_dispatcher(const Words& words, Point point = Point::none) const {
    std::vector<std::string> command{ONCEWARD_TEST_PROGRAMS "/crashing_dispatcher", under_->address(), log_path_,
                                     number_of(point)};
    command.insert(command.end(), words.begin(), words.end());
    return std::make_unique<fixtures::Process>(command);
  }
  void kill_at(Point point, const Words& words) {
    if (point == Point::looking_up) kill_at(Point::sent, words);
    stage(5, point == Point::approved);
    const auto dispatcher = start_dispatcher(words, point);
    await_at(*dispatcher, point);
    kill(*dispatcher);
    ++hits_[point];
    under_->await_rest();
  }
  void kill_at_all(const Words& words, bool looks_up) {
    for (int number = relay_points + 1; number <= all_points; ++number) {
      const Point point = static_cast<Point>(number);
      if (point == Point::looking_up && !looks_up) continue;
      kill_at(point, words);
      if (point == Point::approved) {
        EXPECT_EQ(in_state("approved"), 5) << "what was not executed is as it was";
      }
    }
  }

  std::int64_t in_state(const std::string& state) {
    return reader().number("SELECT count(*) FROM " + ours("ledger") + " WHERE state = '" + state + "'");
  }
  std::map<std::string, std::string> states() {
    std::map<std::string, std::string> all;
    for (const auto& row : reader().read("SELECT idempotency_key, state FROM " + ours("ledger"))) {
      all[row.at(0).value_or("")] = row.at(1).value_or("");
    }
    return all;
  }
  void await_ended(fixtures::Process& dispatcher, bool unknown_too) {
    const auto all = static_cast<std::int64_t>(staged_.size());
    fixtures::await("every call has ended", [&] {
      if (!dispatcher.running()) throw std::runtime_error("the dispatcher has ended: " + dispatcher.output());
      return in_state("succeeded") + (unknown_too ? in_state("unknown") : 0) == all;
    });
  }
  // How often each key has come to the outside world.
  std::map<std::string, int> world() const {
    std::map<std::string, int> times;
    std::ifstream lines(log_path_);
    for (std::string line; std::getline(lines, line);) ++times[line];
    return times;
  }
  void expect_each_once() const {
    const auto times = world();
    EXPECT_EQ(times.size(), staged_.size()) << "none is lost";
    for (const auto& [key, count] : times) EXPECT_EQ(count, 1) << key;
  }
  // Zero is a failure.
  void tell_hits() const {
    for (int number = relay_points + 1; number <= all_points; ++number) {
      const Point point = static_cast<Point>(number);
      const int hits = hits_.contains(point) ? hits_.at(point) : 0;
      EXPECT_GT(hits, 0) << "crash point " << name(point) << " was never reached";
      std::fputs(fmt::format("crash point {:02} {:<17} hit {} times on {}\n", point == Point::approved ? 35 : number,
                             name(point), hits, GetParam().name)
                     .c_str(),
                 stdout);
    }
  }

  std::vector<std::string> staged_;
  std::map<Point, int> hits_;
  const std::string log_path_ = folder_.path() + "/world.log";
};

TEST_P(DispatchCrashPoints, LoseNothingAndMakeNothingTwiceWhereTheOtherSideCanBeAsked) {
  const Words words{"looks_up"};
  kill_at_all(words, true);
  kill_at_all(words, true);
  tell_hits();
  const auto dispatcher = start_dispatcher(words);
  await_ended(*dispatcher, false);
  kill(*dispatcher);
  expect_each_once();
}

TEST_P(DispatchCrashPoints, LeaveWhatIsUnknownToAPersonWhereNobodyCanBeAsked) {
  kill_at_all({}, false);
  const auto dispatcher = start_dispatcher({});
  await_ended(*dispatcher, true);
  kill(*dispatcher);
  const auto times = world();
  for (const auto& [key, count] : times) EXPECT_EQ(count, 1) << key << " was made twice";
  for (const auto& [key, state] : states()) {
    if (!times.contains(key)) {
      EXPECT_EQ(state, "unknown") << key << " was not made, and nobody says so";
    }
  }
  EXPECT_GT(in_state("unknown"), 0);
  EXPECT_LT(in_state("unknown"), static_cast<std::int64_t>(staged_.size()));
}

TEST_P(DispatchCrashPoints, SendTheSameKeyAgainWhereTheEndpointIsIdempotent) {
  const Words words{"idempotent"};
  kill_at_all(words, false);
  const auto dispatcher = start_dispatcher(words);
  await_ended(*dispatcher, false);
  kill(*dispatcher);
  EXPECT_EQ(world().size(), staged_.size());
}

// A pause past the lease, before anything is sent: another has found out that nothing was done, and makes the calls.
TEST_P(DispatchCrashPoints, ADispatcherThatIsPausedPastItsLeaseSendsNothingTwice) {
  const Words words{"looks_up"};
  for (const Point point : {Point::marked, Point::sent, Point::answered, Point::looking_up}) {
    stage(5);
    if (point == Point::looking_up) kill_at(Point::sent, words);
    const auto paused = start_dispatcher(words, point);
    await_at(*paused, point);
    const auto other = start_dispatcher(words);
    await_ended(*other, false);
    paused->signal(SIGCONT);
    stage(5);
    await_ended(*other, false);
    kill(*other);
    stage(5);
    await_ended(*paused, false);
    kill(*paused);
    expect_each_once();
  }
}

ONCEWARD_ON_BOTH_STORES(DispatchCrashPoints);

}  // namespace
}  // namespace onceward::crash
