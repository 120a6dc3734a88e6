#include "onceward/relay.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "tests/fixtures/waiting.h"
#include "tests/relaying/post.h"
#include "tests/relaying/suite.h"

namespace onceward::relay {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Receipt::Kind;

std::vector<std::string> payloads(const std::vector<Posted>& posted, const std::string& key = {}) {
  std::vector<std::string> all;
  for (const Posted& one : posted) {
    if (key.empty() || one.key == key) all.push_back(one.payload);
  }
  return all;
}

class Relaying : public OnEveryStore {
 protected:
  // A relay with a store of its own, that runs until it is destroyed.
  class Running {
   public:
    Running(std::unique_ptr<Store> store, RelayOptions options, RelayTally& tally)
        : store_(std::move(store)),
          relay_(std::move(options), *store_, tally),
          thread_([this](std::stop_token stop) { relay_.run(stop, 5s); }) {}
    Relay& operator*() { return relay_; }

   private:
    std::unique_ptr<Store> store_;
    Relay relay_;
    std::jthread thread_;
  };

  RelayOptions options(bool ordered = false) {
    RelayOptions options;
    options.name = "relay";
    options.producer = "shop";
    options.targets = {{"post", [this] { return std::make_unique<PostPublisher>(post_); }}};
    options.routes = {{.types = {"paid"}, .target = 0, .destination = "payments", .ordered = ordered}};
    options.retry = {.attempts = 3, .first_delay = 20ms, .longest_delay = 40ms};
    options.page = 10;
    options.lease = 2s;
    options.poll = 20ms;
    return options;
  }
  std::unique_ptr<Running> start(RelayOptions options) {
    return std::make_unique<Running>(under_->open(), std::move(options), tally_);
  }
  void send_one(const std::string& key, const std::string& payload, std::optional<std::int64_t> version = {}) {
    send({{.key = key, .version = version, .payload = payload}});
  }
  void await_posted(std::size_t count) {
    await(fmt::format("{} messages", count), [&] { return post_.size() >= count; });
  }
  std::int64_t waiting(const std::string& state) {
    return reader().number(fmt::format("SELECT count(*) FROM {} WHERE state = '{}'", table("outbox_waiting"), state));
  }
  // What a relay that starts now would still find.
  std::size_t left() {
    Pages pages(*store_, "shop");
    const std::string where = table("relay_place");
    Place place{reader().number("SELECT min(tick) FROM " + where),
                reader().number("SELECT min(position) FROM " + where)};
    return read_all(pages, every_slot_, place).size();
  }

  Post post_;
  RelayTally tally_;
};

TEST_P(Relaying, EverythingLeavesOnceAndIsForgotten) {
  for (int i = 0; i < 100; ++i) send_one(fmt::format("k{}", i % 7), std::to_string(i));
  const auto relay = start(options());
  await_posted(100);
  await("the places", [&] { return left() == 0; });
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
  Post other;
  RelayOptions two = options(true);
  two.targets.push_back({"other", [&] { return std::make_unique<PostPublisher>(other); }});
  two.routes.push_back({.types = {"shipped"}, .target = 1, .destination = "shipments", .ordered = true});
  other.go_away(true);
  const auto relay = start(two);
  const auto both = [&](int i) {
    const auto unit = store_->begin({});
    const std::string text = std::to_string(i);
    unit->whole().stage(Outgoing{.type = "paid", .key = "a", .payload = text});
    unit->whole().stage(Outgoing{.type = "shipped", .key = "b", .payload = text});
    ASSERT_EQ(unit->commit(), Commit::committed);
  };
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    both(i);
    expected.push_back(std::to_string(i));
  }
  await_posted(60);
  EXPECT_THAT(other.all(), IsEmpty());
  other.go_away(false);
  await("the other's", [&] { return other.size() == 60; });
  EXPECT_EQ(payloads(other.all()), expected);
  EXPECT_EQ(payloads(post_.all()), expected);
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
    std::vector<std::string> once;  // a repeat is no disorder
    for (const std::string& payload : payloads(post_.all(), key)) {
      if (std::ranges::find(once, payload) == once.end()) once.push_back(payload);
    }
    EXPECT_EQ(once, of_key) << key;
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
  EXPECT_FALSE(silent.move(*unit, every_slot_, {100, 100}));  // the fence
}

ONCEWARD_ON_EVERY_STORE(Relaying);

}  // namespace
}  // namespace onceward::relay
