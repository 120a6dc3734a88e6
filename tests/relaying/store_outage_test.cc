// A relay whose own store is away for a moment, or does not answer to a commit: nothing stands still, and no order is lost.
#include <gmock/gmock.h>

#include "tests/delivery/doubting_store.h"
#include "tests/relaying/running.h"
#include "tests/relaying/watched_store.h"

namespace onceward::relay {
namespace {

using testing::ElementsAre;
using Kind = Receipt::Kind;

class RelayStoreOutage : public RelaysThatRun {
 protected:
  // A relay that has this store.
  class With {
   public:
    With(Store& store, RelayOptions options, RelayTally& tally) : relay_(std::move(options), store, tally) {}
    void ask_to_stop() { thread_.request_stop(); }

   private:
    Relay relay_;
    std::jthread thread_{[this](std::stop_token stop) { relay_.run(stop, 5s); }};
  };

  [[noreturn]] static void be_away() {
    throw Fault(FaultCode::store_unavailable, Poisons::connection, "the store is away");
  }
  RelayOptions quick(bool ordered = true) {
    RelayOptions quick = options(ordered);
    quick.lease = 150ms;
    return quick;
  }
  // So many are somebody's.
  void await_slots(int count) {
    const std::string owned = "SELECT count(*) FROM " + table("relay_slot") + " WHERE owner <> ''";
    await(fmt::format("{} slots", count), [&] { return reader().number(owned) == count; });
  }
  void await_all(std::size_t count) {
    await_posted(count);
    await("their places", [&] { return left() == 0 && under_->rows_in("outbox_waiting") == 0; });
  }

  const std::unique_ptr<Store> own_ = under_->open();
};

// Red if a rebalance that was not answered is taken for done: then its slots are ours in the store, and nobody tends them.
TEST_P(RelayStoreOutage, CommitThatIsNotAnsweredHoldsUpNothing) {
  std::size_t sent = 0;
  for (const Fate fate : {Fate::lands_unanswered, Fate::is_lost}) {
    for (int nth = 1; nth <= 6; ++nth) {
      SCOPED_TRACE(nth);
      std::atomic<int> commits = 0;
      DoubtingStore store(*own_, [&](bool) { return ++commits == nth ? fate : Fate::answered; });
      send_one("a", std::to_string(sent));
      const With relay(store, quick(), tally_);
      ASSERT_NO_THROW(await_posted(std::to_string(sent++)));
      await("the one in doubt", [&] { return commits >= nth; });
      send_one("a", std::to_string(sent));
      ASSERT_NO_THROW(await_posted(std::to_string(sent++)));
    }
  }
  EXPECT_EQ(left(), 0u);
}

// The same while it gives half of its keys up for another, and takes them back.
TEST_P(RelayStoreOutage, CommitOfAShareThatIsNotAnsweredHoldsUpNothing) {
  std::atomic<int> until_doubt = 0;
  std::atomic<Fate> fate = Fate::answered;
  DoubtingStore store(*own_, [&](bool) { return --until_doubt == 0 ? fate.load() : Fate::answered; });
  RelayOptions woken = quick();
  woken.poll = 1h;  // its renewals are most of what it commits
  const With relay(store, woken, tally_);
  await_slots(16);
  std::size_t sent = 0;
  for (const Fate how : {Fate::lands_unanswered, Fate::is_lost}) {
    fate = how;
    for (int nth = 1; nth <= 3; ++nth) {
      until_doubt = nth;
      reader().run(fmt::format("INSERT INTO {} (owner, name, seen_until) VALUES ('other', 'other', {})",
                               table("relay_member"), postgres() ? "'infinity'" : "9000000000000000000"));
      await_slots(8);
      await("the one in doubt", [&] { return until_doubt <= 0; });
      until_doubt = nth;
      reader().run("DELETE FROM " + table("relay_member") + " WHERE owner = 'other'");
      await_slots(16);
      for (int key = 0; key < 20; ++key) send_one(fmt::format("k{}", key), std::to_string(sent++));
      ASSERT_NO_THROW(await_all(sent));
    }
  }
}

// It begins while the store comes and goes. Red if it goes on without knowing which keys wait.
TEST_P(RelayStoreOutage, KeyThatWaitsStaysStoppedForARelayThatBeginsBesideAnOutage) {
  std::atomic<bool> closed = false;
  post_.answer_with([&](const Posted& posted, int) {
    return closed && posted.payload.starts_with("first") ? Kind::refused : Kind::confirmed;
  });
  RelayOptions stubborn = quick();
  stubborn.retry = {.attempts = 1'000, .first_delay = 200ms, .longest_delay = 200ms};
  for (int nth = 1; nth <= 4; ++nth) {
    const std::string key = fmt::format("k{}", nth), first = "first " + key, second = "second " + key;
    closed = true;
    auto before = start(stubborn);
    send_one(key, first);
    await("the first", [&] { return waiting("waiting") == 1; });
    before.reset();
    send_one(key, second);
    std::atomic<int> looks = 0;
    WatchedStore store(*own_, [] {}, [&] { ++looks == nth ? be_away() : void(); });
    const With relay(store, stubborn, tally_);
    await("the second",
          [&] { return waiting("behind") == 1 || post_.size() == 2 * static_cast<std::size_t>(nth) - 1; });
    closed = false;
    await_posted(first);
    await_posted(second);
    EXPECT_THAT(payloads(post_.all(), key), ElementsAre(first, second));
    await("their end", [&] { return under_->rows_in("outbox_waiting") == 0; });
  }
}

// Stopped, with a row under way and one behind it, it loses its keys. Red if it sends on what is another's.
TEST_P(RelayStoreOutage, DrainingRelayThatHasLostItsKeysSendsNothingMore) {
  post_.fall_silent(true);
  send_one("a", "1");
  send_one("a", "2");
  With relay(*own_, quick(), tally_);
  await_posted(1);
  relay.ask_to_stop();
  reader().run("UPDATE " + table("relay_slot") + " SET owner = 'thief'");
  await("it knows", [&] { return tally_.fenced > 0; });
  post_.fall_silent(false);
  await("it has gone", [&] { return under_->rows_in("relay_member") == 0; });
  EXPECT_THAT(payloads(post_.all()), ElementsAre("1"));
}

// The look after a round that was recorded fails. Red if the round is recorded, and its rows are counted, once more.
TEST_P(RelayStoreOutage, WhatWasSetAsideIsToldOnce) {
  post_.answer_with([](const Posted& posted, int times) {
    return posted.payload == "bad" || (posted.payload == "late" && times == 1) ? Kind::refused : Kind::confirmed;
  });
  std::atomic<bool> failed = false;
  WatchedStore store(
      *own_, [] {},
      [&] {
        if (tally_.published == 1 && tally_.refused == 3 && !failed.exchange(true)) be_away();
      });
  send({{.key = "a", .payload = "late"}, {.key = "b", .payload = "bad"}});
  RelayOptions twice = quick();
  twice.retry = {.attempts = 2, .first_delay = 1ms, .longest_delay = 1ms};  // both are due in one round
  const With relay(store, twice, tally_);
  await("the bad one", [&] { return waiting("aside") == 1; });
  send_one("a", "next");
  await_posted(2);
  EXPECT_THAT(payloads(post_.all()), ElementsAre("late", "next"));
  EXPECT_TRUE(failed);
  EXPECT_EQ(tally_.set_aside, 1u);
}

ONCEWARD_ON_BOTH_STORES(RelayStoreOutage);

}  // namespace
}  // namespace onceward::relay
