#include "onceward/relay.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/relaying/running.h"

namespace onceward::relay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Receipt::Kind;

class Relaying : public RelaysThatRun {};

TEST_P(Relaying, EverythingLeavesOnceAndIsForgotten) {
  for (int i = 0; i < 100; ++i) send_one(fmt::format("k{}", i % 7), std::to_string(i));
  const auto relay = start(options());
  await_posted(100);
  await("the places", [&] { return left() == 0; });
  if (!postgres()) await("an empty table", [&] { return under_->rows_in("outbox") == 0; });
  std::set<std::string> ids;
  for (const Posted& posted : post_.all()) {
    ids.insert(posted.id);
    EXPECT_EQ(posted.destination, "payments");
  }
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_EQ(post_.size(), 100u);
  EXPECT_EQ(tally_.published, 100u);
}

TEST_P(Relaying, WhatCommitsLaterLeavesToo) {
  const auto relay = start(options());
  for (int i = 0; i < 20; ++i) {
    send_one("k", std::to_string(i));
    await_posted(static_cast<std::size_t>(i) + 1);
  }
}

TEST_P(Relaying, ARelayThatIsWokenNeedNotLook) {
  RelayOptions patient = options();
  patient.poll = 1h;
  patient.lease = 1h;
  const auto relay = start(patient);
  store_->on_commit([&] { (**relay).wake(); });
  for (std::size_t i = 0; i < 5; ++i) {
    send_one("k", "x");
    await_posted(i + 1);
    std::this_thread::sleep_for(120ms);  // long enough to fall idle
  }
  store_->on_commit({});
}

TEST_P(Relaying, WhatIsInDoubtOrPutOffGoesAgainWithTheSameIdAndBytes) {
  post_.answer_with([](const Posted&, int times) {
    return times == 1 ? Kind::in_doubt : times == 2 ? Kind::put_off : Kind::confirmed;
  });
  send_one("a", "first");
  const auto relay = start(options());
  await_posted(2);
  EXPECT_EQ(post_.all()[0], post_.all()[1]);
  await("its place", [&] { return left() == 0; });
  EXPECT_EQ(tally_.in_doubt, 1u);
  EXPECT_EQ(tally_.put_off, 1u);
}

// FM3-7, F39.
TEST_P(Relaying, ARowThatIsRefusedForEverIsSetAsideAndStopsNobody) {
  post_.answer_with(
      [](const Posted& posted, int) { return posted.payload == "bad" ? Kind::refused : Kind::confirmed; });
  send_one("a", "before");
  send_one("a", "bad");
  send_one("a", "after");
  const auto relay = start(options());
  await_posted(2);
  await("the bad one", [&] { return waiting("aside") == 1; });
  EXPECT_EQ(reader().number("SELECT attempts FROM " + table("outbox_waiting")), 3);
  EXPECT_EQ(reader().value("SELECT reason || ': ' || detail FROM " + table("outbox_waiting")), "refused: as told");
  await("its count", [&] { return tally_.set_aside == 1; });  // after the commit
  EXPECT_EQ(tally_.refused, 3u);
  EXPECT_EQ(left(), 0u);
}

TEST_P(Relaying, ARowWithoutARouteIsSetAside) {
  RelayOptions others = options();
  others.routes[0].types = {"other*"};
  send_one("a", "x");
  const auto relay = start(others);
  await("the row", [&] { return waiting("aside") == 1; });
  EXPECT_EQ(reader().value("SELECT reason FROM " + table("outbox_waiting")), "no_route");
  EXPECT_THAT(post_.all(), IsEmpty());
}

TEST_P(Relaying, AKeyThatFailsStopsAloneAndGoesOnInItsOrder) {
  std::atomic<bool> closed = true;
  post_.answer_with(
      [&](const Posted& posted, int) { return closed && posted.key == "a" ? Kind::refused : Kind::confirmed; });
  RelayOptions stubborn = options(true);
  stubborn.retry.attempts = 1'000;
  const auto relay = start(stubborn);
  for (int i = 0; i < 30; ++i) {
    send_one("a", fmt::format("a{}", i));
    send_one("b", fmt::format("b{}", i));
  }
  await_posted(30);
  await("what stands behind", [&] { return waiting("behind") == 29; });
  EXPECT_EQ(waiting("waiting"), 1);
  closed = false;
  await_posted(60);
  send_one("a", "a30");
  await_posted(61);
  std::vector<std::string> expected;
  for (int i = 0; i <= 30; ++i) expected.push_back(fmt::format("a{}", i));
  EXPECT_EQ(payloads(post_.all(), "a"), expected);
}

TEST_P(Relaying, VersionsOfAnAggregateRise) {
  std::vector<Sent> sent;
  for (const int version : {3, 1, 2}) {
    sent.push_back({.key = "a", .version = version, .payload = std::to_string(version)});
  }
  send(sent);
  const auto relay = start(options(true));
  await_posted(3);
  EXPECT_THAT(payloads(post_.all()), ElementsAre("1", "2", "3"));
}

TEST_P(Relaying, WhileTheBrokerIsAwayNothingIsCharged) {
  post_.go_away(true);
  const auto relay = start(options());
  send_one("a", "x");
  await("its trouble", [&] { return !(**relay).trouble().empty(); });
  EXPECT_EQ((**relay).trouble(), "the post is closed");
  std::this_thread::sleep_for(300ms);
  post_.go_away(false);
  await_posted(1);
  await("the end of its trouble", [&] { return (**relay).trouble().empty(); });
  EXPECT_EQ(tally_.refused, 0u);
  EXPECT_EQ(tally_.publisher_outages, 1u);
  EXPECT_EQ(waiting("waiting") + waiting("aside"), 0);
}

TEST_P(Relaying, ABrokerThatIsAwayHoldsBackNoOther) {
  other_.go_away(true);
  const auto relay = start(impatient(with_other(options(true))));
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    send_one("a", std::to_string(i));
    ship("b", std::to_string(i));
    expected.push_back(std::to_string(i));
  }
  await_posted(60);
  EXPECT_THAT(other_.all(), IsEmpty());
  other_.go_away(false);
  await("the other's", [&] { return other_.size() == 60; });
  EXPECT_EQ(payloads(other_.all()), expected);
  EXPECT_EQ(payloads(post_.all()), expected);
}

// What waited for it is given back meanwhile: having nothing to send to it is no sign that it is there again.
TEST_P(Relaying, ABrokerThatStaysAwayIsAwayOnce) {
  const auto relay = start(impatient(with_other(options())));
  ship("b", "before");
  await("it is there", [&] { return other_.size() == 1; });
  other_.go_away(true);
  ship("b", "after");
  await("it was tried again and again", [&] { return other_.turned_away() >= 5; });
  EXPECT_EQ(tally_.publisher_outages, 1u);
  EXPECT_THAT((**relay).trouble(), testing::HasSubstr("the post is closed"));
  other_.go_away(false);
  await("it is back", [&] { return other_.size() == 2; });
}

TEST_P(Relaying, ATargetThatAPersonHasStoppedWaits) {
  const std::string now = postgres() ? "now()" : "0";
  reader().run(
      fmt::format("INSERT INTO {} (target, at, who, why) VALUES ('post', {}, 'me', 'so')", table("relay_paused"), now));
  RelayOptions quick = options();
  quick.lease = 300ms;
  const auto relay = start(quick);
  send_one("a", "x");
  std::this_thread::sleep_for(500ms);
  EXPECT_THAT(post_.all(), IsEmpty());
  reader().run("DELETE FROM " + table("relay_paused"));
  await_posted(1);
}

TEST_P(Relaying, SeveralRelaysShareTheKeysAndKeepTheirOrder) {
  RelayOptions quick = options(true);
  quick.lease = 600ms;
  std::map<std::string, std::vector<std::string>> expected;
  std::size_t count = 0;
  const auto more = [&] {
    for (int i = 0; i < 60; ++i) {
      const std::string key = fmt::format("k{}", i % 12);
      expected[key].push_back(std::to_string(count));
      send_one(key, std::to_string(count++));
    }
  };
  auto first = start(quick);
  more();
  auto second = start(quick);
  more();
  await("a share for each", [&] {
    return reader().number("SELECT count(DISTINCT owner) FROM " + table("relay_slot") + " WHERE owner <> ''") == 2;
  });
  more();
  first.reset();  // gives its keys up
  more();
  await_posted(count);
  await("the places", [&] { return left() == 0; });
  for (const auto& [key, of_key] : expected) {
    EXPECT_EQ(first_payloads(post_.all(), key), of_key) << key;
  }
}

TEST_P(Relaying, KeysOfARelayThatFellSilentAreTakenOver) {
  Leases silent(*store_, "silent", 300ms);
  silent.take_share();
  ASSERT_EQ(silent.places().size(), 16u);
  send_one("a", "x");
  RelayOptions quick = options();
  quick.lease = 300ms;
  const auto relay = start(quick);
  await_posted(1);
  EXPECT_FALSE(silent.held());
  const auto unit = store_->begin({});
  EXPECT_FALSE(silent.move(*unit, every_slot_, {100, 100}, {}));  // the fence
}

ONCEWARD_ON_EVERY_STORE(Relaying);

}  // namespace
}  // namespace onceward::relay
