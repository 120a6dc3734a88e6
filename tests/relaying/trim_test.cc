// Room is given back a whole part of the outbox at a time, and never with a row in it that has yet to leave.
#include "src/relay/trim.h"

#include "tests/relaying/suite.h"

namespace onceward::relay {
namespace {

class RelayTrim : public OnEveryStore {
 protected:
  // Enough in the first part to be worth it; too short to be stored apart.
  void fill() {
    reader().run(
        "INSERT INTO onceward.outbox (id, type, key, payload) SELECT 'm-' || i, 'paid', 'k' || i % 100, "
        "decode(repeat(md5(i::text), 60), 'escape') FROM generate_series(1, 5000) AS i");
  }
  // All that is there has left, of these slots: bits.
  void leave(int slots = 0xffff) {
    Place place = start();
    read_all(pages_, every_slot_, place, 10'000);
    reader().run(fmt::format("INSERT INTO onceward.relay_move (slots, tick, position) VALUES ({}, {}, {})", slots,
                             place.tick, place.position));
  }
  std::int64_t bytes() { return reader().number("SELECT pg_relation_size('onceward.outbox_part_0')"); }
  std::int64_t rows() { return under_->rows_in("outbox"); }
  void expect_kept(std::int64_t count) {
    empty_parts(*store_);
    EXPECT_EQ(rows(), count);
  }
  void expect_emptied() {
    empty_parts(*store_);
    EXPECT_EQ(rows(), 0);
    EXPECT_EQ(bytes(), 0);
  }

  Pages pages_{*store_, "shop"};
};

TEST_P(RelayTrim, PartIsEmptiedOnceAllOfItHasLeft) {
  fill();
  expect_kept(5000);
  leave();
  expect_emptied();
  send({{"next"}});
  Place place = start();
  EXPECT_EQ(read_all(pages_, every_slot_, place).size(), 1u);
}

TEST_P(RelayTrim, NotWhileARowWaitsToLeave) {
  fill();
  leave();
  send({{"late"}});
  expect_kept(5001);
  leave(0xfffe);
  expect_kept(5001);  // of one slot it has not
  leave();
  expect_emptied();
}

TEST_P(RelayTrim, NotUnderAnOpenWriter) {
  fill();
  const auto other = under_->open();
  const auto open = other->begin({});
  stage(open->whole(), {"open"});
  open->flush();
  leave();
  expect_kept(5000);  // and waits for nobody
  ASSERT_EQ(open->commit(), Commit::committed);
  expect_kept(5001);
  leave();
  expect_emptied();
}

TEST_P(RelayTrim, ThoughASnapshotIsHeld) {
  const auto holder = under_->connect();
  holder->sql().run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  holder->sql().run("SELECT count(*) FROM effect");
  fill();
  leave();
  expect_emptied();
  holder->sql().run("COMMIT");
}

INSTANTIATE_TEST_SUITE_P(Store, RelayTrim, testing::ValuesIn(backends_that(&Capabilities::concurrent_units)),
                         backend_name);

}  // namespace
}  // namespace onceward::relay
