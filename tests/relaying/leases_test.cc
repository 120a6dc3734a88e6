#include "src/relay/leases.h"

#include <algorithm>
#include <thread>

#include "tests/fixtures/waiting.h"
#include "tests/relaying/suite.h"

namespace onceward::relay {
namespace {

using namespace std::chrono_literals;

class RelayLeases : public OnEveryStore {
 protected:
  std::unique_ptr<Store> other_store_ = under_->open();
  Leases one_{*store_, "one", 1h};
  Leases two_{*other_store_, "two", 1h};

  bool move(Leases& leases, Store& store, std::span<const int> slots, Place to) {
    const auto unit = store.begin({});
    return leases.move(*unit, slots, to, newest_tick()) && unit->commit() == Commit::committed;
  }
};

TEST_P(RelayLeases, OneHasAllTwoHaveHalf) {
  one_.take_share();
  EXPECT_EQ(one_.places().size(), 16u);
  EXPECT_FALSE(one_.unbalanced());
  two_.take_share();
  EXPECT_EQ(two_.places().size(), 0u);
  one_.renew();
  EXPECT_TRUE(one_.unbalanced());
  one_.take_share();
  EXPECT_EQ(one_.places().size(), 8u);
  two_.renew();
  EXPECT_TRUE(two_.unbalanced());
  two_.take_share();
  EXPECT_EQ(two_.places().size(), 8u);
  for (const auto& [slot, place] : two_.places()) EXPECT_FALSE(one_.places().contains(slot));
  one_.renew();
  two_.renew();
  EXPECT_FALSE(one_.unbalanced() || two_.unbalanced());
}

TEST_P(RelayLeases, WhatIsGivenUpIsTakenAtOnceWhereItStood) {
  one_.take_share();
  ASSERT_TRUE(move(one_, *store_, every_slot_, {7, 70}));
  one_.give_up();
  EXPECT_FALSE(one_.held());
  two_.take_share();
  ASSERT_EQ(two_.places().size(), 16u);
  EXPECT_EQ(two_.places().at(3), (Place{7, 70}));
}

// As where the commit was in doubt, and had landed.
TEST_P(RelayLeases, AMoveMayBeSaidAgain) {
  one_.take_share();
  EXPECT_TRUE(move(one_, *store_, every_slot_, {7, 70}));
  EXPECT_TRUE(move(one_, *store_, every_slot_, {7, 70}));
}

// F10: what the store said it had is gone.
TEST_P(RelayLeases, AMoveFromAPlaceThatTheStoreHasLostIsRefused) {
  one_.take_share();
  ASSERT_TRUE(move(one_, *store_, every_slot_, {7, 70}));
  one_.moved(every_slot_, {7, 70});
  one_.renew();
  ASSERT_EQ(one_.places().size(), 16u);
  lose_last_move();
  EXPECT_FALSE(move(one_, *store_, every_slot_, {8, 0}));
  one_.renew();
  EXPECT_TRUE(one_.places().empty());
  EXPECT_FALSE(move(one_, *store_, every_slot_, {8, 0}));
  one_.renew();
  EXPECT_TRUE(one_.unbalanced()) << "until they are taken";
  one_.take_share();
  EXPECT_EQ(one_.places().at(3), start());
  EXPECT_TRUE(move(one_, *store_, every_slot_, {8, 0}));
}

TEST_P(RelayLeases, ALeaseThatRanOutIsTakenAndItsOldOwnerIsFenced) {
  Leases brief(*store_, "brief", 50ms);
  brief.take_share();
  await("the end of the lease", [&] { return !brief.held(); });
  await("its slots", [&] {  // the store's clock runs a little behind ours
    two_.take_share();
    return two_.places().size() == 16;
  });
  EXPECT_FALSE(move(brief, *store_, every_slot_, {9, 0}));
  EXPECT_FALSE([&] {
    const auto unit = store_->begin({});
    return brief.hold(*unit, every_slot_);
  }());
  brief.renew();
  EXPECT_TRUE(brief.places().empty());
  EXPECT_TRUE(move(two_, *other_store_, every_slot_, {9, 0}));
}

TEST_P(RelayLeases, RenewingKeepsThem) {
  Leases brief(*store_, "brief", 200ms);
  brief.take_share();
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(60ms);
    brief.renew();
  }
  EXPECT_EQ(brief.places().size(), 16u);
  two_.take_share();
  EXPECT_EQ(two_.places().size(), 0u);
}

ONCEWARD_ON_EVERY_STORE(RelayLeases);

}  // namespace
}  // namespace onceward::relay
