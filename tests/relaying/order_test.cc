// The order of a key, where rows of it have to wait.
#include <gmock/gmock.h>

#include "src/relay/waiting.h"
#include "tests/relaying/running.h"

namespace onceward::relay {
namespace {

using testing::ElementsAre;
using Kind = Receipt::Kind;

class RelayOrder : public RelaysThatRun {
 protected:
  void pause_other() {
    reader().run(fmt::format("INSERT INTO {} (target, at, who, why) VALUES ('other', {}, 'me', 'so')",
                             table("relay_paused"), postgres() ? "now()" : "0"));
  }
  // Each renewal looks who is paused.
  void await_renewals(int count) {
    const std::string seen = "SELECT CAST(max(seen_until) AS text) FROM " + table("relay_member");
    for (; count > 0; --count) {
      await("a renewal", [&, before = reader().value(seen)] { return reader().value(seen) != before; });
    }
  }
  void stage_together(const std::vector<Outgoing>& all) {
    const auto unit = store_->begin({});
    for (const Outgoing& outgoing : all) unit->whole().stage(outgoing);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }

  Post third_;
};

// One page has found the target away, and is not yet recorded when the next one finds it back.
TEST_P(RelayOrder, RowThatFoundItsTargetAwayHoldsBackTheNext) {
  std::atomic<bool> held = true;
  post_.answer_with([&](const Posted&, int) { return held ? Kind::put_off : Kind::confirmed; });
  RelayOptions three = with_other(options(true));
  three.patience = 1s;
  three.lease = 300ms;
  three.targets.push_back({"third", [this] { return std::make_unique<PostPublisher>(third_); }});
  three.routes.push_back({.types = {"noted"}, .target = 2, .destination = "notes"});
  pause_other();
  const auto relay = start(three);
  await("its keys", [&] { return reader().number("SELECT count(*) FROM " + table("relay_member")) == 1; });
  await_renewals(2);
  stage_together({{.type = "paid", .key = "a", .payload = "slow"}, {.type = "shipped", .key = "b", .payload = "1"}});
  await("the first page", [&] { return tally_.put_off > 0; });
  reader().run("DELETE FROM " + table("relay_paused"));
  await_renewals(2);
  stage_together({{.type = "shipped", .key = "b", .payload = "2"}, {.type = "noted", .key = "c", .payload = "x"}});
  await("the second page", [&] { return third_.size() == 1; });
  held = false;
  await("both", [&] { return other_.size() >= 2; });
  EXPECT_THAT(payloads(other_.all()), ElementsAre("1", "2"));
}

// Versions of an aggregate that were staged the wrong way round leave in their order, and so they wait.
TEST_P(RelayOrder, RefusedVersionHoldsBackTheNext) {
  post_.answer_with([](const Posted& posted, int times) {
    return posted.payload == "1" && times == 1 ? Kind::refused : Kind::confirmed;
  });
  RelayOptions slow = options(true);
  slow.retry.first_delay = slow.retry.longest_delay = 300ms;  // many looks
  send({{.key = "a", .version = 2, .payload = "2"}, {.key = "a", .version = 1, .payload = "1"}});
  const auto relay = start(slow);
  await_posted(2);
  EXPECT_THAT(payloads(post_.all()), ElementsAre("1", "2"));
}

// What waits still stops its key when another relay comes.
TEST_P(RelayOrder, KeyThatWaitsStaysStoppedForTheNextRelay) {
  std::atomic<bool> closed = true;
  post_.answer_with(
      [&](const Posted& posted, int) { return closed && posted.payload == "1" ? Kind::refused : Kind::confirmed; });
  RelayOptions stubborn = options(true);
  stubborn.retry = {.attempts = 1'000, .first_delay = 300ms, .longest_delay = 300ms};
  auto relay = start(stubborn);
  send_one("a", "1");
  await("the first", [&] { return waiting("waiting") == 1; });
  relay.reset();
  send_one("a", "2");
  relay = start(stubborn);
  await("the second", [&] { return waiting("behind") == 1; });
  closed = false;
  await_posted(2);
  EXPECT_THAT(payloads(post_.all()), ElementsAre("1", "2"));
}

// Rows that wait, written as the relay does.
class WaitingRows : public OnEveryStore {
 protected:
  struct Row {
    std::string key, state, id;
    std::chrono::milliseconds due{0};  // from now
    std::string target = "post";
  };
  void put(const std::vector<Row>& rows) {
    std::string values;
    for (const Row& row : rows) {
      const std::string due = postgres()
                                  ? fmt::format("clock_timestamp() + interval '{} milliseconds'", row.due.count())
                                  : fmt::format("CAST(unixepoch('subsec') * 1000000 AS INTEGER) + {}",
                                                std::chrono::microseconds(row.due).count());
      values += fmt::format(
          "{}({}, {}, 0, '{}', 'paid', '{}', '', '', '', '', '', '', '', '', {}, 1, 0, 1, '{}', '{}', 0, {}, '', '', {})",
          values.empty() ? "" : ", ", ++position_, postgres() ? "now()" : "0", row.id, row.key,
          postgres() ? "'x'::bytea" : "CAST('x' AS BLOB)", row.target, row.state, due, postgres() ? "now()" : "0");
    }
    reader().run(
        "INSERT INTO " + table("outbox_waiting") +
        " (position, staged_at, consumer, id, type, key, tenant, aggregate_type, aggregate_id, correlation_id, "
        "causation_id, trace_parent, content_type, headers, payload, tick, slot, ordered, target, state, attempts, "
        "due_at, reason, detail, entered_at) VALUES " +
        values);
  }
  std::vector<std::string> due(int most = 100'000) {
    std::vector<std::string> ids;
    for (const OutboxRow& row : waiting_.due(every_slot_, "post", most)) {
      ids.emplace_back(row.envelope.message_id().text());
    }
    return ids;
  }

  int position_ = 0;
  Waiting waiting_{*store_, "shop", {}, 0ms};
};

TEST_P(WaitingRows, NoneGoesBehindOneThatIsNotDueOrWasSetAside) {
  put({{"a", "waiting", "a1", 1h}, {"a", "behind", "a2"}, {"b", "aside", "b1"}, {"b", "behind", "b2"}});
  put({{"c", "waiting", "c1"}, {"c", "behind", "c2"}, {"d", "behind", "d2"}, {"e", "waiting", "e1", 0ms, "other"}});
  EXPECT_THAT(due(), ElementsAre("c1", "c2", "d2"));
  EXPECT_THAT(due(1), ElementsAre("c1"));
}

// One that stands later and goes first: by its version.
TEST_P(WaitingRows, NoneGoesBeforeOneThatStandsLaterAndWaits) {
  put({{"a", "behind", "a2"}, {"a", "waiting", "a1"}, {"b", "behind", "b2"}, {"b", "waiting", "b1", 1h}});
  EXPECT_THAT(due(), ElementsAre("a1"));
}

// Of one key to two targets, each in its own order.
TEST_P(WaitingRows, NoneWaitsForOneOfItsKeyThatGoesElsewhere) {
  put({{"a", "behind", "a1"}, {"a", "waiting", "x", 0ms, "other"}, {"a", "behind", "a2"}});
  put({{"b", "waiting", "y", 1h, "other"},
       {"b", "behind", "b1"},
       {"c", "aside", "z", 0ms, "other"},
       {"c", "behind", "c1"}});
  EXPECT_THAT(due(), ElementsAre("a1", "a2", "b1", "c1"));
}

TEST_P(WaitingRows, KeysAreFoundWhateverTheyHold) {
  put({{"a\"b\\{c},", "waiting", "1"}, {"d", "discarded", "2"}, {"e", "behind", "3"}});
  const std::vector<std::string> keys = {"a\"b\\{c},", "d", "e", "f"};
  EXPECT_THAT(waiting_.keys_among(keys), ElementsAre("a\"b\\{c},", "e"));
  EXPECT_THAT(waiting_.keys(every_slot_), ElementsAre("a\"b\\{c},", "e"));
  EXPECT_THAT(waiting_.targets(every_slot_), ElementsAre("post"));
}

// While one is looked for, others become due: whoever is behind them goes with them or not at all.
TEST_P(WaitingRows, AllAreLookedAtInOneMoment) {
  std::vector<Row> rows;
  for (int i = 0; i < 1000; ++i) {
    rows.push_back({fmt::format("k{}", i), "waiting", fmt::format("{}.1", i), std::chrono::milliseconds(i)});
  }
  for (int i = 0; i < 1000; ++i) rows.push_back({fmt::format("k{}", i), "behind", fmt::format("{}.2", i)});
  put(rows);
  for (std::size_t found = 0; found < 2000;) {
    const std::vector<std::string> ids = due();
    const std::set<std::string> seen(ids.begin(), ids.end());
    for (const std::string& id : ids) {
      ASSERT_TRUE(seen.contains(id.substr(0, id.find('.')) + ".1")) << id << " without the one in front of it";
    }
    found = ids.size();
  }
}

ONCEWARD_ON_BOTH_STORES(RelayOrder);
ONCEWARD_ON_EVERY_STORE(WaitingRows);

}  // namespace
}  // namespace onceward::relay
