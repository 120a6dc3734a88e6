// Brokers that are there and confirm nothing, or not this one: no row is charged, and no other route is held back.
#include <gmock/gmock.h>

#include "tests/relaying/running.h"

namespace onceward::relay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Receipt::Kind;

class RelaySilence : public RelaysThatRun {
 protected:
  std::int64_t rows_that_wait() { return under_->rows_in("outbox_waiting"); }
};

TEST_P(RelaySilence, WhatIsPutOffWhileOthersLeaveUsesNoAttempt) {
  post_.answer_with([](const Posted& posted, int times) {
    return posted.payload == "full" && times <= 14 ? Kind::put_off : Kind::confirmed;
  });
  const auto relay = start(options());
  send_one("a", "full");
  send_one("b", "x");
  await("the row", [&] { return waiting("waiting") == 1; });
  EXPECT_EQ(reader().value("SELECT reason || ': ' || detail FROM " + table("outbox_waiting")), "put_off: as told");
  EXPECT_EQ(reader().number("SELECT attempts FROM " + table("outbox_waiting")), 0);
  await("it has left", [&] {
    const auto all = payloads(post_.all());
    if (std::ranges::find(all, "full") != all.end()) return true;
    send_one("b", "y");  // others leave meanwhile, or it would be held
    return false;
  });
  EXPECT_EQ(tally_.put_off, 14u);
  await("its end", [&] { return rows_that_wait() == 0; });
  EXPECT_EQ(tally_.refused, 0u);
  EXPECT_EQ(tally_.set_aside, 0u);
}

// F24, an alarm of the whole broker: nothing moves, and nothing is charged or copied.
TEST_P(RelaySilence, WhereEverythingIsPutOffAllIsHeld) {
  std::atomic<bool> full = true;
  post_.answer_with([&](const Posted&, int) { return full ? Kind::put_off : Kind::confirmed; });
  const auto relay = start(impatient(options()));
  for (int i = 0; i < 50; ++i) send_one(fmt::format("k{}", i), std::to_string(i));
  await("its trouble", [&] { return (**relay).trouble() == "post: nothing is confirmed"; });
  EXPECT_EQ(rows_that_wait(), 0);
  EXPECT_EQ(tally_.refused, 0u);
  full = false;
  await_posted(50);
  await("the end of its trouble", [&] { return (**relay).trouble().empty(); });
  EXPECT_EQ(rows_that_wait(), 0);
}

// As an embedded queue on a full disk.
TEST_P(RelaySilence, WhatIsAlwaysInDoubtIsNotSentWithoutAPause) {
  std::atomic<bool> full = true;
  post_.answer_with([&](const Posted&, int) { return full ? Kind::in_doubt : Kind::confirmed; });
  const auto relay = start(impatient(options()));
  send_one("a", "x");
  await("its trouble", [&] { return !(**relay).trouble().empty(); });
  EXPECT_LT(tally_.in_doubt, 20u);
  EXPECT_EQ(rows_that_wait(), 0);
  full = false;
  await("its place", [&] { return left() == 0; });
}

// As a quorum queue that has lost its majority.
TEST_P(RelaySilence, ABrokerThatNeverConfirmsHoldsBackNoOther) {
  other_.fall_silent(true);
  const auto relay = start(impatient(with_other(options(true))));
  std::vector<std::string> expected;
  for (int i = 0; i < 60; ++i) {
    send_one("a", std::to_string(i));
    ship("b", std::to_string(i));
    expected.push_back(std::to_string(i));
  }
  await_posted(60);
  EXPECT_EQ(payloads(post_.all()), expected);
  EXPECT_EQ(tally_.refused, 0u);
  other_.fall_silent(false);
  await("the other's", [&] { return first_payloads(other_.all()).size() == 60; });
  EXPECT_EQ(first_payloads(other_.all()), expected);
  await("the end", [&] { return rows_that_wait() == 0; });
}

// A page is noted when all of it has come to an end, and what was refused waits from then on.
TEST_P(RelaySilence, ARetryDoesNotWaitForABrokerThatNeverConfirms) {
  other_.fall_silent(true);
  post_.answer_with([](const Posted&, int times) { return times == 1 ? Kind::refused : Kind::confirmed; });
  const auto relay = start(impatient(with_other(options())));
  ship("b", "silent");
  await("the silent one", [&] { return other_.size() == 1; });
  send_one("a", "x");
  await_posted("x");
}

// A person has stopped one of them, and many rows wait for that.
TEST_P(RelaySilence, RowsOfATargetThatIsAwayDoNotHoldBackTheRetriesOfOthers) {
  reader().run(fmt::format("INSERT INTO {} (target, at, who, why) VALUES ('other', {}, 'me', 'so')",
                           table("relay_paused"), postgres() ? "now()" : "0"));
  post_.answer_with([](const Posted&, int times) { return times <= 2 ? Kind::refused : Kind::confirmed; });
  {
    const auto unit = store_->begin({});
    for (int i = 0; i < 700; ++i) unit->whole().stage(Outgoing{.type = "shipped", .key = "b", .payload = "x"});
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  RelayOptions quick = impatient(with_other(options()));
  quick.lease = 300ms;
  const auto relay = start(quick);
  send_one("a", "x");
  await_posted(1);
  const auto number = [&](const std::string& what) {
    const std::string now = postgres() ? "clock_timestamp()" : "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";
    return reader().value(fmt::format("SELECT CAST({} AS text) FROM {} WHERE target = 'other'",
                                      fmt::format(fmt::runtime(what), now), table("outbox_waiting")));
  };
  await("all of them to be due", [&] { return number("count(CASE WHEN due_at <= {} THEN 1 END)") == "700"; });
  const std::string due = number("max(due_at)");
  send_one("a", "y");
  await_posted(2);
  EXPECT_EQ(number("max(due_at)"), due) << "written again for nothing";
  EXPECT_THAT(other_.all(), IsEmpty());
}

// The page of which one row is not confirmed is recorded all the same before the relay ends.
TEST_P(RelaySilence, DrainRecordsWhatHasLeftBesideABrokerThatNeverConfirms) {
  other_.fall_silent(true);
  auto relay = start(impatient(with_other(options())));
  {
    const auto unit = store_->begin({});
    unit->whole().stage(Outgoing{.type = "paid", .key = "a", .payload = "x"});
    unit->whole().stage(Outgoing{.type = "shipped", .key = "b", .payload = "y"});
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  await_posted(1);
  await("the other", [&] { return other_.size() == 1; });
  relay.reset();
  EXPECT_EQ(left(), 0u);
  EXPECT_EQ(waiting("waiting"), 1);
}

ONCEWARD_ON_BOTH_STORES(RelaySilence);

}  // namespace
}  // namespace onceward::relay
