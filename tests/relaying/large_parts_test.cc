#include "src/relay/trim.h"

#include <random>

#include "tests/relaying/suite.h"

namespace onceward::relay {
namespace {

// Where rows are not deleted one by one.
class LargeParts : public OnEveryStore {
 protected:
  // More than a part must hold to be worth it, and nothing that can be compressed.
  void send_large() {
    std::string bytes(3 << 20, '\0');
    std::minstd_rand random(1);
    for (char& byte : bytes) byte = static_cast<char>(random());
    send({{"a", {}, bytes}, {"b", {}, bytes}, {"c", {}, bytes}});
  }
  // All that can be found leaves.
  void leave() {
    read_all(pages_, every_slot_, place_);
    reader().run(fmt::format("INSERT INTO onceward.relay_move (slots, tick, position) VALUES (65535, {}, {})",
                             place_.tick, place_.position));
  }
  std::int64_t rows() { return reader().number("SELECT count(*) FROM onceward.outbox"); }

  Pages pages_{*store_, "shop"};
  Place place_ = start();
};

TEST_P(LargeParts, APartInWhichAllHasLeftIsEmptied) {
  send_large();
  empty_parts(*store_);
  EXPECT_EQ(rows(), 3);
  leave();
  empty_parts(*store_);
  EXPECT_EQ(rows(), 0);
}

TEST_P(LargeParts, ARowThatHasYetToLeaveKeepsItsPart) {
  send_large();
  leave();
  send({{"new"}});
  empty_parts(*store_);
  EXPECT_EQ(rows(), 4);
  leave();
  empty_parts(*store_);
  EXPECT_EQ(rows(), 0);
}

TEST_P(LargeParts, AWriterThatStaysOpenKeepsItsPartAndWaitsForNobody) {
  const auto other = under_->open();
  auto open = other->begin({});
  stage(open->whole(), {"late"});
  open->flush();
  send_large();
  leave();
  empty_parts(*store_);
  EXPECT_EQ(rows(), 3);
  stage(open->whole(), {"later"});
  ASSERT_EQ(open->commit(), Commit::committed);
  empty_parts(*store_);
  EXPECT_EQ(rows(), 5);
  leave();
  empty_parts(*store_);
  EXPECT_EQ(rows(), 0);
}

// An open transaction that has nothing to do with the outbox: the rows themselves tell that they have left.
TEST_P(LargeParts, AnOldTransactionElsewhereKeepsNothing) {
  const auto other = under_->open();
  const auto old = other->begin({});
  old->whole().query("SELECT pg_current_xact_id()::text");
  send_large();
  leave();
  empty_parts(*store_);
  EXPECT_EQ(rows(), 0);
}

INSTANTIATE_TEST_SUITE_P(Store, LargeParts, testing::ValuesIn(backends_that(&Capabilities::concurrent_units)),
                         backend_name);

}  // namespace
}  // namespace onceward::relay
