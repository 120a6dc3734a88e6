#include "src/records/outbox.h"

#include "src/records/backlogs.h"
#include "src/records/steps.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

class OutboxRecords : public OnEveryStore {
 protected:
  Numbers listed(const OutboxFilter& filter) {
    Numbers numbers;
    for (const OutboxRow& row : list_outbox(*store_, filter, std::nullopt, 100).rows) numbers.push_back(row.number);
    EXPECT_EQ(count_outbox(*store_, filter), static_cast<std::int64_t>(numbers.size()));
    return numbers;
  }
  // A relay has published everything so far.
  void let_all_leave() {
    if (postgres()) {
      reader().read("SELECT number FROM onceward.next_ticks(1)");
      move("3", "0");
    } else {
      move("0", "(SELECT max(position) FROM onceward_outbox)");
    }
  }
  // The same up to this one.
  void let_leave(std::int64_t number) {
    if (postgres()) reader().read("SELECT number FROM onceward.next_ticks(1)");
    move(postgres() ? "2" : "0", std::to_string(number));
  }
  void move(const std::string& tick, const std::string& position) {
    reader().run(fmt::format("INSERT INTO {} (slots, tick, position) VALUES (65535, {}, {})", table("relay_move"), tick,
                             position));
  }
};

TEST_P(OutboxRecords, PagesShowEachRowOnceNewestFirstWhateverItsState) {
  Numbers staged;
  for (const char* state : {"pending", "waiting", "pending", "aside", "discarded"}) {
    staged.insert(staged.begin(), stage({.state = state}));
  }
  Numbers seen;
  std::optional<std::int64_t> below;
  for (const bool more : {true, true, false}) {
    const OutboxPage page = list_outbox(*store_, {}, below, 2);
    EXPECT_EQ(page.more, more);
    for (const OutboxRow& row : page.rows) seen.push_back(row.number);
    below = page.rows.back().number;
  }
  EXPECT_EQ(seen, staged);
}

TEST_P(OutboxRecords, FiltersAndCountsByEach) {
  const auto a = stage({.id = "a", .type = "payment.made", .key = "", .at_seconds = 100});
  const auto b = stage({.id = "b", .state = "waiting", .type = "payment.lost", .at_seconds = 200});
  const auto c = stage({.id = "c", .state = "behind", .key = "order-2", .at_seconds = 300});
  const auto d = stage({.id = "d", .state = "aside", .type = "zahlung.geprüft", .at_seconds = 400});
  const auto e = stage({.id = "e", .state = "discarded", .type = "Payment.made", .at_seconds = 500});
  EXPECT_EQ(listed({}), (Numbers{e, d, c, b, a}));
  EXPECT_EQ(listed({.numbers = {a, c, 999}}), (Numbers{c, a}));
  EXPECT_EQ(listed({.states = {OutboxState::pending}}), Numbers{a});
  EXPECT_EQ(listed({.states = {OutboxState::waiting}}), Numbers{b});
  EXPECT_EQ(listed({.states = {OutboxState::behind}}), Numbers{c});
  EXPECT_EQ(listed({.states = {OutboxState::quarantined}}), Numbers{d});
  EXPECT_EQ(listed({.states = {OutboxState::discarded}}), Numbers{e});
  EXPECT_EQ(listed({.states = {OutboxState::pending, OutboxState::quarantined}}), (Numbers{d, a}));
  EXPECT_EQ(listed({.type = "payment."}), (Numbers{b, a}));
  EXPECT_EQ(listed({.type = "payment.made"}), Numbers{a});
  EXPECT_EQ(listed({.type = "zahlung.geprü"}), Numbers{d}) << "characters count, not bytes";
  EXPECT_EQ(listed({.type = "pay%"}), Numbers{});
  EXPECT_EQ(listed({.key = ""}), Numbers{a});
  EXPECT_EQ(listed({.key = "order-2"}), Numbers{c});
  EXPECT_EQ(listed({.id = "e"}), Numbers{e});
  EXPECT_EQ(listed({.since = Timestamp(std::chrono::seconds(300))}), (Numbers{e, d, c}));
  EXPECT_EQ(listed({.until = Timestamp(std::chrono::seconds(200))}), Numbers{a});
  EXPECT_EQ(count_outbox(*store_, {.states = {OutboxState::waiting, OutboxState::behind}}, 1), 1) << "up to one";
}

TEST_P(OutboxRecords, ARowIsShownWithAllItsFields) {
  const auto number = stage({.id = "a", .at_seconds = 100});
  const OutboxRow row = read_outgoing(*store_, number).value();
  EXPECT_EQ(row.number, number);
  EXPECT_EQ(row.staged_at, Timestamp(std::chrono::seconds(100)));
  EXPECT_EQ(row.state, OutboxState::pending);
  EXPECT_EQ(row.id, "a");
  EXPECT_EQ(row.type, "order.placed");
  EXPECT_EQ(row.key, "order-1");
  EXPECT_EQ(row.tenant, "main");
  EXPECT_EQ(row.aggregate_type, "order");
  EXPECT_EQ(row.aggregate_id, "o1");
  EXPECT_EQ(row.aggregate_version, 7);
  EXPECT_FALSE(row.event_version);
  EXPECT_EQ(row.correlation_id, "c1");
  EXPECT_EQ(row.causation_id, "m0");
  EXPECT_EQ(row.trace_parent, "00-1-2-01");
  EXPECT_EQ(row.content_type, "application/json");
  EXPECT_EQ(row.headers, R"({"a":"b"})");
  EXPECT_EQ(row.consumer, "billing");
  EXPECT_EQ(to_string(row.cause.value()), "80000000-0000-4000-8000-0000000000ff");
  EXPECT_EQ(row.payload_bytes, 6);
  EXPECT_EQ(row.attempts, 0);
  EXPECT_FALSE(row.due_at);
  EXPECT_FALSE(row.entered_at);
  EXPECT_FALSE(read_outgoing(*store_, number + 1));
}

TEST_P(OutboxRecords, ARowThatCouldNotLeaveSaysWhy) {
  const OutboxRow waiting = read_outgoing(*store_, stage({.state = "waiting"})).value();
  EXPECT_EQ(waiting.state, OutboxState::waiting);
  EXPECT_EQ(waiting.attempts, 3);
  EXPECT_EQ(waiting.due_at, Timestamp(std::chrono::seconds(1'900'000'000)));
  EXPECT_EQ(waiting.reason, "returned");
  EXPECT_EQ(waiting.detail, "no queue is bound");
  EXPECT_EQ(waiting.entered_at, Timestamp(std::chrono::seconds(1'800'000'000)));
  const OutboxRow aside = read_outgoing(*store_, stage({.state = "aside"})).value();
  EXPECT_EQ(aside.state, OutboxState::quarantined);
  EXPECT_FALSE(aside.due_at) << "nothing will be tried";
}

TEST_P(OutboxRecords, ThePayloadIsReadByteForByte) {
  const auto pending = stage({}), waiting = stage({.state = "waiting"});
  EXPECT_EQ(read_outgoing_payload(*store_, pending), "secret");
  EXPECT_EQ(read_outgoing_payload(*store_, waiting), "secret");
  EXPECT_FALSE(read_outgoing_payload(*store_, waiting + 1));
}

TEST_P(OutboxRecords, WhatHasLeftIsNotShown) {
  const auto left = stage({.id = "left"});
  const auto waiting = stage({.id = "waiting", .state = "waiting"});
  const auto last = stage({.id = "last"});
  let_all_leave();
  const auto pending = stage({.id = "pending"});
  EXPECT_EQ(listed({}), (Numbers{pending, waiting}));
  EXPECT_FALSE(read_outgoing(*store_, left));
  EXPECT_FALSE(read_outgoing_payload(*store_, last));
}

TEST_P(OutboxRecords, WhatStandsBehindTheRelaysPlaceIsPending) {
  const auto left = stage({.id = "left"}), next = stage({.id = "next"}), last = stage({.id = "last"});
  let_leave(left);
  EXPECT_EQ(listed({}), (Numbers{last, next}));
  EXPECT_EQ(read_outbox_backlog(*store_).pending, 2);
  const auto later = stage({.id = "later"});
  EXPECT_EQ(listed({}), (Numbers{later, last, next}));
}

// A transaction that was open when the relay looked has lower positions than what has left.
TEST_P(OutboxRecords, WhatIsCommittedLateIsPending) {
  if (!postgres()) return;  // one writer at a time
  const auto writer = under_->connect();
  writer->begin();
  const std::string insert =
      "INSERT INTO onceward.outbox (id, type, key, payload) VALUES ('late', 'order.placed', '', '')";
  writer->sql().run(insert);
  stage({.id = "left"});
  let_all_leave();
  EXPECT_EQ(listed({}), Numbers{});
  writer->sql().run("COMMIT");
  const OutboxPage page = list_outbox(*store_, {}, std::nullopt, 10);
  ASSERT_EQ(page.rows.size(), 1u);
  EXPECT_EQ(page.rows[0].id, "late");
  EXPECT_EQ(count_outbox(*store_, {}), 1);
  EXPECT_EQ(read_outbox_backlog(*store_).pending, 1);
}

// On SQLite places of slots differ, and a dump that was restored is found again from its beginning.
TEST_P(OutboxRecords, ARowThatWaitsIsNotPendingToo) {
  const auto number = stage({});
  set_back(number, "waiting");
  EXPECT_EQ(listed({}), Numbers{number});
  EXPECT_EQ(listed({.states = {OutboxState::pending}}), Numbers{});
}

TEST(OutboxState, NamesAreReadBack) {
  for (const auto state : {OutboxState::pending, OutboxState::waiting, OutboxState::behind, OutboxState::quarantined,
                           OutboxState::discarded}) {
    EXPECT_EQ(outbox_state_named(name(state)), state);
  }
  EXPECT_FALSE(outbox_state_named("aside")) << "people call it quarantined";
}

ONCEWARD_ON_EVERY_STORE(OutboxRecords);

}  // namespace
}  // namespace onceward::records
