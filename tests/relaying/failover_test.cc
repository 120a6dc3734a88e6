// A failover that loses the end of what was committed, as the store shows it afterwards: ticks and moves are gone, and another
// relay may have made a tick of the same number since.
#include "tests/relaying/running.h"
#include "tests/relaying/watched_store.h"

namespace onceward::relay {
namespace {

using Kind = Receipt::Kind;

class RelayFailover : public RelaysThatRun {
 protected:
  void lose_last_tick() {
    reader().run("DELETE FROM onceward.relay_tick WHERE number = (SELECT max(number) FROM onceward.relay_tick)");
  }
  void make_tick_as_another_relay() {
    reader().run("SELECT * FROM onceward.next_ticks((SELECT max(number) FROM onceward.relay_tick))");
  }
  // What is sent is neither confirmed nor refused until it is let go.
  void hold_back() {
    post_.answer_with([this](const Posted&, int) { return held_ ? Kind::put_off : Kind::confirmed; });
  }
  void await_place_after(const TickName& tick) {
    await("its place", [&] { return OnEveryStore::start() == Place{tick.number + 1, 0}; });
  }

  std::atomic<bool> held_ = true;
};

TEST_P(RelayFailover, LostTailLosesNothing) {
  hold_back();
  const auto relay = start(options());
  send_one("a", "first");
  await("the page under way", [&] { return tally_.put_off > 0; });
  reader().run("BEGIN; LOCK TABLE onceward.relay_tick");  // the relay sees all of it at once
  lose_last_tick();
  send_one("b", "second");
  make_tick_as_another_relay();
  reader().run("COMMIT");
  held_ = false;
  await_posted("second");
  await("its place", [&] { return left() == 0; });
}

TEST_P(RelayFailover, LostPlacesAreFoundByTheNextMessage) {
  RelayOptions patient = options();
  patient.lease = 1h;
  const auto relay = start(patient);
  send_one("a", "first");
  await_posted("first");
  await_place_after(newest_tick());
  lose_last_tick();
  lose_last_move();
  send_one("b", "second");
  await_posted("second");
}

// The rows of another relay's tick were staged before, and nobody stages any more.
TEST_P(RelayFailover, LostPlacesAreFoundByTheNextRenewal) {
  RelayOptions quick = options();
  quick.lease = 600ms;
  const auto relay = start(quick);
  send_one("a", "first");
  await_posted("first");
  await_place_after(newest_tick());
  reader().run("BEGIN; LOCK TABLE onceward.relay_tick");
  lose_last_tick();
  lose_last_move();
  send_one("b", "second");
  make_tick_as_another_relay();
  reader().run("COMMIT");
  await_posted("second");
}

// The same, and the store is away for the look after each renewal. Red if what a renewal has found is forgotten with it.
TEST_P(RelayFailover, LostPlacesAreFoundThoughTheStoreComesAndGoes) {
  std::atomic<bool> coming_and_going = false;
  std::atomic<int> failed = 0;
  const auto own = under_->open();
  WatchedStore store(
      *own, [] {},
      [&] {
        if (!coming_and_going) return;
        ++failed;
        throw Fault(FaultCode::store_unavailable, Poisons::connection, "the store is away");
      });
  RelayOptions quick = options();
  quick.lease = 300ms;
  Relay relay(quick, store, tally_);
  const std::jthread running([&](std::stop_token stop) { relay.run(stop, 5s); });
  send_one("a", "first");
  await_posted("first");
  await_place_after(newest_tick());
  coming_and_going = true;
  reader().run("BEGIN; LOCK TABLE onceward.relay_tick");
  lose_last_tick();
  lose_last_move();
  send_one("b", "second");
  make_tick_as_another_relay();
  reader().run("COMMIT");
  await("it is fenced", [&] { return tally_.fenced > 0; });
  await("some outages", [&, before = failed.load()] { return failed >= before + 3; });
  coming_and_going = false;
  await_posted("second");
}

// F18 under a relay that runs: its ticks are made anew while a page is under way.
TEST_P(RelayFailover, RestoreUnderARelayLosesNothing) {
  hold_back();
  const auto relay = start(options());
  send_one("a", "first");
  await("the page under way", [&] { return tally_.put_off > 0; });
  reader().run("UPDATE onceward.relay_tick SET number = number");
  send_one("b", "second");
  make_tick_as_another_relay();
  held_ = false;
  await_posted("second");
  await("its place", [&] { return left() == 0; });
}

ONCEWARD_WHERE_SEVERAL_WRITE(RelayFailover);

}  // namespace
}  // namespace onceward::relay
