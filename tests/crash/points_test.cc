// Every crash point of the way from delivery to acknowledgement: a worker is killed exactly there, others go on, and from
// outside each message is found applied once, with all that belongs to it, or parked.
#include <fmt/format.h>

#include <cstdio>

#include "tests/crash/scene.h"
#include "tests/faults/proxy.h"

namespace onceward::crash {
namespace {

class CrashPoints : public Scene {
 protected:
  void kill_at(Point point) {
    const int first = static_cast<int>(sent_.size());
    send({"good", "later", "good", "never", "unreadable", "good"});
    send_again(first);
    const bool in_server = point == Point::commit_sent && GetParam().name == "postgres";
    in_server ? kill_while_the_server_commits() : kill_where_it_stops(point);
    ++hits_.at(static_cast<std::size_t>(point));
    under_->await_rest();
    let_time_pass();
  }

  void kill_where_it_stops(Point point) {
    const auto worker = start({{"point", number_of(point)}});
    await_at(*worker, point);
    kill(*worker);
  }
  // The server gets the COMMIT, and the worker never its answer.
  void kill_while_the_server_commits() {
    faults::Proxy proxy(faults::port_of(under_->address()));
    const auto worker = start_on(proxy.instead_of(under_->address()), {{"point", number_of(Point::before_commit)}});
    await_at(*worker, Point::before_commit);
    // Its text is known to the server by now; all that is still to be sent is the COMMIT, whatever its bytes.
    proxy.set({.needle = std::string(1, '\0'), .act = faults::Rule::Act::stall});
    worker->signal(SIGCONT);
    fixtures::await("the COMMIT was sent", [&] { return proxy.fired() == 1; });
    kill(*worker);
  }

  void expect_the_next_finishes_it() {
    const auto worker = start();
    await_rest(*worker);
    kill(*worker);
    expect_each_once();
  }

  // Zero is a failure.
  void tell_hits() const {
    for (int number = 1; number <= points; ++number) {
      const int hits = hits_.at(static_cast<std::size_t>(number));
      EXPECT_GT(hits, 0) << "crash point " << number << " was never reached";
      const std::string text = fmt::format("crash point {:02} {:<17} hit {} times on {}\n", number,
                                           name(static_cast<Point>(number)), hits, GetParam().name);
      std::fputs(text.c_str(), stdout);
    }
  }

  std::array<int, points + 1> hits_{};
};
ONCEWARD_ON_BOTH_STORES(CrashPoints);

// Each worker meets what those before it have left; the last one finishes all of it.
TEST_P(CrashPoints, AreEachReachedAndLoseNothingAndApplyOnce) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int number = 1; number <= points; ++number) ASSERT_NO_FATAL_FAILURE(kill_at(static_cast<Point>(number)));
    SCOPED_TRACE("message m was sent for crash point (m / 6) mod 15 + 1");
    expect_the_next_finishes_it();
    if (HasFailure()) break;
  }
  tell_hits();
}

}  // namespace
}  // namespace onceward::crash
