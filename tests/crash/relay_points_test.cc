// Every crash point of a relay: it is killed exactly there, another goes on, and from outside every staged message is found at
// the broker, again where it must be, with the same id and the same bytes.
#include <fmt/format.h>

#include <set>

#include "tests/crash/scene.h"
#include "tests/fixtures/receiving.h"

namespace onceward::crash {
namespace {

class RelayCrashPoints : public Scene {
 protected:
  void stage(int count) {
    const auto store = under_->open();
    for (int i = 0; i < count; ++i) {
      const auto unit = store->begin({});
      const std::string id = fmt::format("m-{}", staged_.size()), key = fmt::format("k{}", staged_.size() % 3);
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
    if (point != Point::renewing) stage(20);
    const auto relay = start_relay(point);
    await_at(*relay, point);
    kill(*relay);
    under_->await_rest();
  }
  std::int64_t aside() {
    return reader().number("SELECT count(*) FROM " + ours("outbox_waiting") + " WHERE state = 'aside'");
  }
  std::int64_t waiting() { return reader().number("SELECT count(*) FROM " + ours("outbox_waiting")); }
  std::int64_t pending() { return reader().number("SELECT count(*) FROM " + ours("outbox_pending")); }

  void expect_all_at_the_broker() {
    std::set<std::string> found;
    const auto source = open_embedded({.path = queue_path_});
    std::vector<Delivery> deliveries;
    while (true) {
      deliveries.clear();
      source->receive(deliveries, 1000, std::chrono::milliseconds(0));
      if (deliveries.empty()) break;
      for (const Delivery& delivery : deliveries) {
        const std::string id(delivery.envelope.message_id().text());
        EXPECT_EQ(delivery.envelope.payload(), id + " payload");
        found.insert(id);
      }
    }
    for (const std::string& id : staged_) EXPECT_TRUE(id.empty() || found.contains(id)) << id;
    EXPECT_EQ(found.size() + static_cast<std::size_t>(lost_), staged_.size());
  }

  std::vector<std::string> staged_;  // empty: one that nobody takes
  int lost_ = 0;
};

TEST_P(RelayCrashPoints, LoseNothing) {
  for (int number = points + 1; number <= all_points; ++number) kill_at(static_cast<Point>(number));
  const auto relay = start_relay();
  fixtures::await("all has left", [&] { return pending() == 0 && aside() == lost_ && waiting() == lost_; });
  kill(*relay);
  expect_all_at_the_broker();
}

// Killed again and again at the same point, with one message more each time.
TEST_P(RelayCrashPoints, AreNoWayToStandStill) {
  for (const Point point : {Point::confirmed, Point::noted}) {
    for (int time = 0; time < 3; ++time) kill_at(point);
  }
  const auto relay = start_relay();
  fixtures::await("all has left", [&] { return pending() == 0 && waiting() == lost_; });
  kill(*relay);
  expect_all_at_the_broker();
}

// F-points of a paused relay: past its lease another goes on, and what the first notes afterwards is refused.
TEST_P(RelayCrashPoints, ARelayThatIsPausedPastItsLeaseIsFenced) {
  stage(20);
  const auto paused = start_relay(Point::confirmed);
  await_at(*paused, Point::confirmed);
  const auto other = start_relay();
  fixtures::await("the other has sent all", [&] { return pending() == 0 && waiting() == lost_ && aside() == lost_; });
  stage(5);
  fixtures::await("and goes on", [&] { return pending() == 0 && waiting() == lost_ && aside() == lost_; });
  paused->signal(SIGCONT);
  stage(5);
  fixtures::await("both go on", [&] { return pending() == 0 && waiting() == lost_ && aside() == lost_; });
  kill(*other);
  kill(*paused);
  expect_all_at_the_broker();
}

ONCEWARD_ON_BOTH_STORES(RelayCrashPoints);

}  // namespace
}  // namespace onceward::crash
