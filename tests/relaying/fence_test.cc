// Whoever has lost its slots notes nothing of them, whatever its broker has confirmed.
#include <atomic>
#include <thread>

#include "onceward/relay.h"
#include "tests/fixtures/waiting.h"
#include "tests/relaying/post.h"
#include "tests/relaying/suite.h"
#include "tests/relaying/watched_store.h"

namespace onceward::relay {
namespace {

using namespace std::chrono_literals;
using Kind = Receipt::Kind;

class RelayFence : public OnEveryStore {
 protected:
  // Its lease is so long that it asks nobody whether it still has its slots.
  RelayOptions options() {
    RelayOptions options;
    options.name = "relay";
    options.producer = "shop";
    options.targets = {{"post", [this] { return std::make_unique<PostPublisher>(post_); }}};
    options.routes = {{.types = {"paid"}, .destination = "payments", .ordered = true}};
    options.retry = {.attempts = 5, .first_delay = 1ms, .longest_delay = 1ms};
    options.lease = 1h;
    options.poll = 20ms;
    return options;
  }
  // A relay for which all slots are another's, who has gone again, from the moment at which `lost()` first holds.
  template <class Lost>
  void relay_and_steal_when(Lost&& lost) {
    const auto thief = under_->connect();
    WatchedStore store(*store_, [&] {
      if (stolen_ || !lost()) return;
      stolen_ = true;
      thief->sql().run("UPDATE " + table("relay_slot") + " SET owner = 'thief'");
    });
    Relay relay(options(), store, tally_);
    const std::jthread running([&](std::stop_token stop) { relay.run(stop, 5s); });
    fixtures::await("all has left", [&] {
      return tally_.fenced > 0 && reader().number("SELECT count(*) FROM " + table("outbox_pending")) == 0 &&
             under_->rows_in("outbox_waiting") == 0;
    });
  }

  Post post_;
  RelayTally tally_;
  std::atomic<bool> stolen_ = false;
};

TEST_P(RelayFence, PageThatAnotherHasTakenOverIsNotNoted) {
  send({{"a"}, {"b"}, {"c"}});
  relay_and_steal_when([&] { return tally_.published == 3; });
  EXPECT_EQ(tally_.fenced, 1u);
  EXPECT_EQ(post_.size(), 6u) << "once for itself, and once for whoever has them now";
}

TEST_P(RelayFence, RowThatWaitedAndThatAnotherHasTakenOverIsNotNoted) {
  post_.answer_with([](const Posted&, int times) { return times == 1 ? Kind::refused : Kind::confirmed; });
  send({{"a"}});
  relay_and_steal_when([&] { return tally_.published == 1; });
  EXPECT_EQ(tally_.fenced, 1u);
  EXPECT_EQ(post_.size(), 2u);
}

ONCEWARD_ON_EVERY_STORE(RelayFence);

}  // namespace
}  // namespace onceward::relay
