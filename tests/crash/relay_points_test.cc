// Every crash point of a relay: it is killed exactly there, another goes on, and from outside every staged message is found at
// the broker, again where it must be, with the same id and the same bytes, and of each key first in the order of its commits.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tests/crash/scene.h"

namespace onceward::crash {
namespace {

constexpr int keys = 3;

class RelayCrashPoints : public Scene {
 protected:
  void stage(int count) {
    const auto store = under_->open();
    for (int i = 0; i < count; ++i) {
      const auto unit = store->begin({});
      const std::string id = fmt::format("m-{}", staged_.size()), key = fmt::format("k{}", staged_.size() % keys);
      const bool lost = i == count / 2;
      unit->whole().stage(Outgoing{.type = lost ? "lost" : "paid", .key = key, .payload = id + " payload", .id = id});
      ASSERT_EQ(unit->commit(), Commit::committed);
      lost ? ++lost_ : 0;
      staged_.push_back(lost ? std::string() : id);
    }
  }
  std::unique_ptr<fixtures::Process> start_relay(Point point = Point::none) const {
    return std::make_unique<fixtures::Process>(std::vector<std::string>{
        ONCEWARD_TEST_PROGRAMS "/crashing_relay", under_->address(), queue_path_, number_of(point)});
  }
  void kill_at(Point point) {
    stage(20);
    const auto relay = start_relay(point);
    await_at(*relay, point);
    kill(*relay);
    ++hits_.at(static_cast<std::size_t>(point));
    under_->await_rest();
  }
  // Whether all has left but those that nobody takes, which are set aside.
  bool all_left() {
    const std::string waiting = "SELECT count(*) FROM " + ours("outbox_waiting");
    return reader().number("SELECT count(*) FROM " + ours("outbox_pending")) == 0 &&
           reader().number(waiting) == lost_ && reader().number(waiting + " WHERE state = 'aside'") == lost_;
  }
  void await_all_left(const std::string& what) {
    fixtures::await(what, [&] { return all_left(); });
  }
  void expect_the_next_finishes_it() {
    const auto relay = start_relay();
    await_all_left("all has left");
    kill(*relay);
    expect_all_at_the_broker();
  }

  // How often something was found again.
  int expect_all_at_the_broker() {
    std::vector<std::vector<std::string>> found(keys);  // by key, each the first time
    int again = 0;
    const auto source = open_embedded({.path = queue_path_});
    std::vector<Delivery> deliveries;
    do {
      deliveries.clear();
      source->receive(deliveries, 1000, std::chrono::milliseconds(0));
      for (const Delivery& delivery : deliveries) {
        const std::string id(delivery.envelope.message_id().text());
        EXPECT_EQ(delivery.envelope.payload(), id + " payload");
        auto& of_key = found.at(static_cast<std::size_t>(std::stoi(id.substr(2)) % keys));
        std::ranges::find(of_key, id) == of_key.end() ? of_key.push_back(id) : void(++again);
      }
    } while (!deliveries.empty());
    std::vector<std::vector<std::string>> expected(keys);
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      if (!staged_[i].empty()) expected[i % keys].push_back(staged_[i]);
    }
    EXPECT_EQ(found, expected);
    return again;
  }

  // Zero is a failure.
  void tell_hits() const {
    for (int number = points + 1; number <= relay_points; ++number) {
      const int hits = hits_.at(static_cast<std::size_t>(number));
      EXPECT_GT(hits, 0) << "crash point " << number << " was never reached";
      const std::string text = fmt::format("crash point {:02} {:<17} hit {} times on {}\n", number,
                                           name(static_cast<Point>(number)), hits, GetParam().name);
      std::fputs(text.c_str(), stdout);
    }
  }

  static std::ptrdiff_t sent_by(const fixtures::Process& relay) {
    const std::string said = relay.output();
    std::ptrdiff_t count = 0;
    for (std::size_t at = 0; (at = said.find("sent ", at)) != said.npos; ++at) ++count;
    return count;
  }

  std::vector<std::string> staged_;  // empty: one that nobody takes
  int lost_ = 0;
  std::array<int, all_points + 1> hits_{};
};

TEST_P(RelayCrashPoints, LoseNothing) {
  for (int number = points + 1; number <= relay_points; ++number) {
    ASSERT_NO_FATAL_FAILURE(kill_at(static_cast<Point>(number)));
  }
  const auto relay = start_relay();
  await_all_left("all has left");
  kill(*relay);
  EXPECT_GT(expect_all_at_the_broker(), 0) << "some was confirmed and not noted";
  tell_hits();
}

// Killed again and again at the same point, with more messages each time.
TEST_P(RelayCrashPoints, AreNoWayToStandStill) {
  for (const Point point : {Point::confirmed, Point::noted}) {
    for (int time = 0; time < 3; ++time) ASSERT_NO_FATAL_FAILURE(kill_at(point));
  }
  expect_the_next_finishes_it();
}

// F34: past its lease another goes on; the first finds that out, and sends nothing more of what it had.
TEST_P(RelayCrashPoints, ARelayThatIsPausedPastItsLeaseIsFenced) {
  stage(20);
  const auto paused = start_relay(Point::some_confirmed);
  await_at(*paused, Point::some_confirmed);
  const std::ptrdiff_t sent = sent_by(*paused);
  ASSERT_GT(sent, 0);
  ASSERT_LT(sent, 20) << "nothing is left that it could send";
  const auto other = start_relay();
  await_all_left("the other has sent all");
  stage(5);
  await_all_left("and goes on");
  paused->signal(SIGCONT);
  fixtures::await("it knows", [&] { return paused->output().find("fenced ") != std::string::npos; });
  EXPECT_EQ(sent_by(*paused), sent) << paused->output();
  stage(5);
  await_all_left("both go on");
  kill(*other);
  kill(*paused);
  expect_all_at_the_broker();
}

ONCEWARD_ON_BOTH_STORES(RelayCrashPoints);

}  // namespace
}  // namespace onceward::crash
