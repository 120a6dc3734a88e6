#include "src/relay/pages.h"

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "src/common/limits.h"
#include "src/relay/leases.h"
#include "tests/fixtures/waiting.h"
#include "tests/relaying/suite.h"

namespace onceward::relay {
namespace {

using Keys = std::vector<std::string>;

Keys keys_of(const std::vector<OutboxRow>& rows) {
  Keys keys;
  for (const OutboxRow& row : rows) keys.emplace_back(row.key);
  return keys;
}

class RelayPages : public OnEveryStore {
 protected:
  Keys next(int most = 100) { return keys_of(read_all(pages_, every_slot_, place_, most)); }
  // The first page that has rows: positions need not begin where the place is.
  Page first(int most) {
    Page page = pages_.read(every_slot_, place_, std::nullopt, most);
    for (Place place = place_; page.rows.empty() && page.to > place;) {
      place = page.to;
      page = pages_.read(every_slot_, place, std::nullopt, most);
    }
    return page;
  }

  Pages pages_{*store_, "shop"};
  Place place_ = start();
};

// Where several write at once.
class RelayTicks : public RelayPages {};

// Where the server counts what one connection has read, when it ends.
class RelayReads : public RelayPages {};
std::vector<Backend> without_pooler() {
  std::vector<Backend> backends = backends_that(&Capabilities::concurrent_units);
  std::erase_if(backends, [](const Backend& backend) { return backend.name != "postgres"; });
  return backends;
}

TEST_P(RelayPages, EveryRowIsFoundOnceInItsOrder) {
  send({{"a"}, {"b"}});
  send({{"c"}});
  EXPECT_EQ(next(), (Keys{"a", "b", "c"}));
  EXPECT_EQ(next(), Keys{});
  send({{"d"}});
  EXPECT_EQ(next(1), (Keys{"d"}));
}

TEST_P(RelayPages, ARowIsTheMessageThatWasStaged) {
  const Header headers[] = {{"a", "x\"y"}, {"traceless", ""}};
  const auto unit = store_->begin({});
  unit->whole().stage(Outgoing{.type = "paid",
                               .key = "account-7",
                               .payload = std::string_view("{\0}", 3),
                               .id = "m-1",
                               .aggregate_type = "account",
                               .aggregate_id = "7",
                               .aggregate_version = 12,
                               .event_version = 2,
                               .content_type = "text/plain",
                               .headers = headers});
  ASSERT_EQ(unit->commit(), Commit::committed);
  const Page page = first(10);
  ASSERT_EQ(page.rows.size(), 1u);
  const EnvelopeFields& fields = page.rows[0].envelope.fields();
  EXPECT_EQ(fields.producer.text(), "shop");
  EXPECT_EQ(fields.message_id.text(), "m-1");
  EXPECT_EQ(fields.event_type.text(), "paid");
  EXPECT_EQ(fields.partition_key, "account-7");
  EXPECT_EQ(fields.payload, std::string_view("{\0}", 3));
  EXPECT_EQ(fields.aggregate_type.text(), "account");
  EXPECT_EQ(fields.aggregate_id.text(), "7");
  EXPECT_EQ(fields.aggregate_version, 12);
  EXPECT_EQ(fields.event_version, 2);
  EXPECT_EQ(fields.content_type, "text/plain");
  ASSERT_EQ(fields.headers.size(), 2u);
  EXPECT_EQ(fields.headers[0], headers[0]);
  EXPECT_EQ(fields.headers[1], headers[1]);
  EXPECT_TRUE(fields.occurred_at);
}

TEST_P(RelayPages, SlotsShareTheRowsAndAKeyHasOneSlot) {
  std::vector<Sent> sent;
  for (int i = 0; i < 200; ++i) sent.push_back({fmt::format("k{}", i % 50)});
  send(sent);
  std::map<std::string, std::set<int>> slots;
  std::size_t rows = 0;
  for (const int slot : every_slot_) {
    Place place = start();
    for (const OutboxRow& row : read_all(pages_, std::span(&slot, 1), place, 7)) {
      EXPECT_EQ(row.slot, slot);
      slots[std::string(row.key)].insert(slot);
      ++rows;
    }
  }
  EXPECT_EQ(rows, 200u);
  std::set<int> used;
  for (const auto& [key, of_key] : slots) {
    EXPECT_EQ(of_key.size(), 1u) << key;
    used.insert(of_key.begin(), of_key.end());
  }
  EXPECT_GT(used.size(), 8u);
}

// A slot that another relay has left behind comes up to the others' place, and no further.
TEST_P(RelayPages, APageEndsWhereItIsToldTo) {
  send({{"a"}, {"b"}, {"c"}, {"d"}});
  const Page some = first(2);
  Place place = start();
  Keys keys;
  while (place != some.to) {
    const Page page = pages_.read(every_slot_, place, some.to, 100);
    for (const OutboxRow& row : page.rows) keys.emplace_back(row.key);
    ASSERT_GT(page.to, place);
    place = page.to;
  }
  EXPECT_EQ(keys, keys_of(some.rows));
  EXPECT_LE(keys.size(), 2u);
  for (OutboxRow& row : read_all(pages_, every_slot_, place)) keys.emplace_back(row.key);
  EXPECT_EQ(keys, (Keys{"a", "b", "c", "d"}));
}

TEST_P(RelayPages, LargeRowsMakeShortPages) {
  const std::string large(most_bytes_together / 2 + 1, 'x');
  send({{"a", {}, large}, {"b", {}, large}, {"c", {}, large}});
  EXPECT_EQ(first(100).rows.size(), 2u);
  EXPECT_EQ(next(), (Keys{"a", "b", "c"}));
}

// Positions that nobody has kept are passed in ever longer steps.
TEST_P(RelayTicks, GapsBetweenPositionsAreCrossed) {
  send({{"before"}});
  reader().run("SELECT setval('onceward.outbox_order', nextval('onceward.outbox_order') + 5000000)");
  send({{"after"}});
  Keys keys;
  int reads = 0;
  for (; keys.size() < 2; ++reads) {
    const Page page = pages_.read(every_slot_, place_, std::nullopt, 10);
    ASSERT_GT(page.to, place_);
    place_ = page.to;
    for (const OutboxRow& row : page.rows) keys.emplace_back(row.key);
  }
  EXPECT_EQ(keys, (Keys{"before", "after"}));
  EXPECT_LT(reads, 200);
}

// Without statistics PostgreSQL takes a long tick for a short one, and would read all the rest of it for each page.
TEST_P(RelayReads, APageReadsHardlyMoreRowsThanItGives) {
  constexpr int rows = 5000;
  const auto fetched = [&] {
    return reader().number(
        "SELECT sum(idx_tup_fetch + seq_tup_read) FROM pg_stat_all_tables WHERE relname ^@ 'outbox_part'");
  };
  const std::int64_t before = fetched();
  send(std::vector<Sent>(rows));
  {
    const auto own = under_->open();
    Pages pages(*own, "shop");
    EXPECT_EQ(read_all(pages, every_slot_, place_, 100).size(), std::size_t{rows});
  }
  await("the counts of a connection that has ended", [&] { return fetched() >= before + rows; });
  EXPECT_LT(fetched(), before + 5 * rows);  // not 25
}

// As F16 and F17 have it: a row with a lower position is committed after those with higher ones were published.
TEST_P(RelayTicks, AWriterThatStaysOpenHoldsBackNobodyAndIsNotForgotten) {
  const auto other = under_->open();
  auto open = other->begin({});
  stage(open->whole(), {"late"});
  open->flush();
  for (int i = 0; i < 5; ++i) {
    send({{fmt::format("k{}", i)}});
    EXPECT_EQ(next(), Keys{fmt::format("k{}", i)});
  }
  stage(open->whole(), {"later"});
  ASSERT_EQ(open->commit(), Commit::committed);
  EXPECT_EQ(next(1), (Keys{"late", "later"}));
  EXPECT_EQ(next(), Keys{});
}

// A repeat finds the rows between two ticks in the same order, though more has been committed meanwhile.
TEST_P(RelayTicks, ARepeatHasTheSameOrder) {
  const auto other = under_->open();
  auto open = other->begin({});
  stage(open->whole(), {"first"});
  open->flush();
  send({{"second"}});
  EXPECT_EQ(next(), Keys{"second"});
  ASSERT_EQ(open->commit(), Commit::committed);
  EXPECT_EQ(next(), Keys{"first"});
  Pages again(*store_, "shop");
  Place place = start();
  EXPECT_EQ(keys_of(read_all(again, every_slot_, place)), (Keys{"second", "first"}));
}

TEST_P(RelayTicks, PassedTicksAreForgottenAndTheRestIsFound) {
  for (int i = 0; i < 5; ++i) {
    send({{"k"}});
    next();
  }
  send({{"last"}});
  pages_.passed(place_.tick);
  EXPECT_EQ(reader().number("SELECT count(*) FROM " + table("relay_tick")), 1);
  EXPECT_EQ(next(), Keys{"last"});
}

// F18: a dump that is restored on another server brings numbers of transactions that say nothing there.
class RestoredTicks : public RelayTicks {
 protected:
  void raise_rows(const std::string& key) {
    reader().run("UPDATE onceward.outbox SET tx = ((tx::text::bigint) + 1000000000000)::text::xid8 WHERE key = '" +
                 key + "'");
  }
  void raise_ticks() {
    reader().run(
        "UPDATE onceward.relay_tick SET snapshot = (SELECT (s::text::bigint + 1000000000000)::text || ':' || "
        "(s::text::bigint + 1000000000000)::text || ':' FROM pg_snapshot_xmax(snapshot) s)::pg_snapshot, "
        "maker = ((maker::text::bigint) + 1000000000000)::text::xid8");
  }
  // What a relay finds that comes after the restore.
  std::set<std::string> found() {
    Pages pages(*store_, "shop");
    Place place = place_;
    std::set<std::string> found;
    for (int i = 0; i < 4; ++i) {
      for (const OutboxRow& row : read_all(pages, every_slot_, place)) found.emplace(row.key);
      place = {reader().number("SELECT min(tick) FROM onceward.relay_place"), 0};
    }
    return found;
  }
};

TEST_P(RestoredTicks, OfAServerThatWasFartherLoseNothing) {
  send({{"before"}});
  EXPECT_EQ(next(), Keys{"before"});
  send({{"waits"}});
  raise_rows("before");
  raise_rows("waits");
  raise_ticks();
  send({{"new"}});
  EXPECT_EQ(found(), (std::set<std::string>{"before", "new", "waits"}));
}

// Ticks end before the numbers that this server gives now, and rows that were staged later do not.
TEST_P(RestoredTicks, WithRowsThatThisServerHasYetToReachLoseNothing) {
  send({{"first"}});
  raise_rows("first");
  EXPECT_EQ(found(), std::set<std::string>{"first"});
  place_ = start();
  next();
  send({{"waits"}});
  raise_rows("waits");
  EXPECT_TRUE(found().contains("waits"));
}

// This server has come past the last tick since, and not by what that tick knew of.
TEST_P(RestoredTicks, ThatThisServerHasPassedLoseNothing) {
  send({{"before"}});
  EXPECT_EQ(next(), Keys{"before"});
  reader().run("UPDATE onceward.relay_tick SET number = number");  // written by another transaction than their own
  send({{"new"}});
  reader().run("UPDATE onceward.outbox SET tx = '100' WHERE key = 'new'");
  EXPECT_TRUE(found().contains("new"));
}

// A place that is moved while everything is found again would lead nowhere.
TEST_P(RestoredTicks, WaitForAMoveThatIsUnderWay) {
  send({{"before"}});
  EXPECT_EQ(next(), Keys{"before"});
  raise_ticks();
  send({{"new"}});
  Leases leases(*store_, "one", std::chrono::hours(1));
  leases.take_share();
  const auto unit = store_->begin({});
  const TickName newest = newest_tick();
  ASSERT_TRUE(leases.move(*unit, every_slot_, {newest.number + 1, 0}, newest));
  const auto other = under_->open();
  std::jthread restored([&] {
    const auto again = other->begin({});
    again->whole().query("SELECT number FROM onceward.next_ticks($1)", newest.number);
    again->commit();
  });
  under_->await_waiter();
  ASSERT_EQ(unit->commit(), Commit::committed);
  restored.join();
  EXPECT_EQ(start(), (Place{newest.number + 2, 0}));
}

// Writers that begin early and commit late, wait for each other's locks, roll back; one of them is open all the time.
class ManyWriters : public OnEveryStore {
 protected:
  struct Written {
    std::int64_t began, ended;
    std::vector<std::pair<std::string, std::int64_t>> events;  // key and version
  };

  std::int64_t tick() { return ++clock_; }

  void write(std::stop_token stop, unsigned seed) {
    const auto store = under_->open();
    std::minstd_rand random(seed);
    while (!stop.stop_requested()) {
      Written written{tick(), 0, {}};
      const auto unit = store->begin({});
      Transaction& tx = unit->whole();
      if (seed % 2 == 0 && postgres()) tx.query("SELECT pg_current_xact_id()");
      if (seed % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
      for (int key = static_cast<int>(random() % 4); key < 20; key += 1 + static_cast<int>(random() % 9)) {
        const std::string name = fmt::format("k{}", key);
        const Rows rows = tx.query("UPDATE account SET version = version + 1 WHERE name = $1 RETURNING version", name);
        const std::int64_t version = std::get<std::int64_t>(rows.at(0).at(0));
        stage(tx, {name, version});
        unit->flush();
        written.events.emplace_back(name, version);
      }
      if (random() % 10 == 0) continue;
      ASSERT_EQ(unit->commit(), Commit::committed);
      written.ended = tick();
      const std::lock_guard lock(mutex_);
      written_.push_back(std::move(written));
    }
  }

  std::atomic<std::int64_t> clock_ = 0;
  std::mutex mutex_;
  std::vector<Written> written_;
};

TEST_P(ManyWriters, LoseNothingAndKeepTheOrderOfEachAggregate) {
  reader().run("CREATE TABLE account (name text PRIMARY KEY, version bigint NOT NULL)");
  for (int i = 0; i < 20; ++i) reader().run(fmt::format("INSERT INTO account VALUES ('k{}', 0)", i));
  std::vector<OutboxRow> found;
  Pages pages(*store_, "shop");
  Place place = start();
  const auto other = under_->open();
  auto open = GetParam().capabilities.concurrent_units ? other->begin({}) : nullptr;
  if (open) {
    stage(open->whole(), {"open"});
    open->flush();
  }
  {
    std::vector<std::jthread> writers;
    for (unsigned seed = 1; seed <= 4; ++seed) {
      writers.emplace_back([this, seed](std::stop_token stop) { write(stop, seed); });
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (std::chrono::steady_clock::now() < end) {
      Page page = pages.read(every_slot_, place, std::nullopt, 7);  // writers may be quicker: never all of it
      place = page.to;
      for (OutboxRow& row : page.rows) found.push_back(std::move(row));
    }
  }
  if (open) ASSERT_EQ(open->commit(), Commit::committed);
  for (OutboxRow& row : read_all(pages, every_slot_, place)) found.push_back(std::move(row));

  std::map<std::string, std::int64_t> versions;
  std::size_t events = 0;
  for (const Written& written : written_) events += written.events.size();
  EXPECT_EQ(found.size(), events + (open ? 1 : 0));
  for (const OutboxRow& row : found) {
    if (row.key == "open") continue;
    const std::int64_t version = *row.envelope.aggregate_version();
    EXPECT_EQ(version, ++versions[std::string(row.key)]) << row.key;
  }
  EXPECT_GT(events, 100u);
}

ONCEWARD_ON_EVERY_STORE(RelayPages);
ONCEWARD_WHERE_SEVERAL_WRITE(RelayTicks);
ONCEWARD_WHERE_SEVERAL_WRITE(RestoredTicks);
INSTANTIATE_TEST_SUITE_P(Store, RelayReads, testing::ValuesIn(without_pooler()), backend_name);
ONCEWARD_ON_EVERY_STORE(ManyWriters);

}  // namespace
}  // namespace onceward::relay
