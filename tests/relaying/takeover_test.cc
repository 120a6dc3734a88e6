// Keys that one relay gives to another.
#include "tests/relaying/running.h"

namespace onceward::relay {
namespace {

using Kind = Receipt::Kind;

class RelayTakeover : public RelaysThatRun {
 protected:
  void await_both_have_keys() {
    await("a share for each", [&] {
      return reader().number("SELECT count(DISTINCT owner) FROM " + table("relay_slot") + " WHERE owner <> ''") == 2;
    });
  }
};

TEST_P(RelayTakeover, DoesNotWaitUntilEverythingThatWaitedHasLeft) {
  std::atomic<bool> closed = true;
  post_.answer_with([&](const Posted&, int) {
    if (!closed) std::this_thread::sleep_for(10ms);  // a slow broker
    return closed ? Kind::refused : Kind::confirmed;
  });
  RelayOptions slow = options();
  slow.retry = {.attempts = 1'000, .first_delay = 20ms, .longest_delay = 20ms};
  slow.lease = 300ms;
  slow.page = 20;
  const auto first = start(slow);
  {
    const auto unit = store_->begin({});
    for (int i = 0; i < 600; ++i) stage(unit->whole(), {.key = fmt::format("k{}", i)});
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  await("all to wait", [&] { return waiting("waiting") == 600; });
  closed = false;
  await_posted(1);
  const auto second = start(slow);
  await_both_have_keys();
  EXPECT_GT(waiting("waiting"), 100);
}

// One that cannot reach its broker shares its keys with one that can.
TEST_P(RelayTakeover, ARelayThatIsCutOffFromItsOnlyBrokerSharesItsKeys) {
  post_.go_away(true);
  RelayOptions quick = impatient(options());
  quick.lease = 600ms;
  const auto cut_off = start(quick);
  for (int i = 0; i < 50; ++i) send_one(fmt::format("k{}", i), std::to_string(i));
  await("its trouble", [&] { return !(**cut_off).trouble().empty(); });
  quick.targets[0].open = [this] { return std::make_unique<PostPublisher>(other_); };
  const auto second = start(quick);
  await_both_have_keys();
  await("some of them", [&] { return other_.size() > 10; });
}

TEST_P(RelayTakeover, DrainedRelayGivesItsKeysAtOnce) {
  RelayOptions patient = options();
  patient.lease = 1h;
  auto first = start(patient);
  send_one("a", "1");
  await_posted(1);
  first.reset();
  send_one("a", "2");
  const auto second = start(patient);
  await_posted(2);
}

ONCEWARD_ON_BOTH_STORES(RelayTakeover);

}  // namespace
}  // namespace onceward::relay
