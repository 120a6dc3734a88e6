// Whoever only reads is in nobody's way, and nobody is in his.
#include "src/records/action.h"
#include "src/records/backlogs.h"
#include "src/records/inbox.h"
#include "src/records/outbox_action.h"
#include "src/records/pause.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

using namespace std::chrono_literals;

class Readers : public OnEveryStore {};
ONCEWARD_ON_EVERY_STORE(Readers);

TEST_P(Readers, WaitForNoWriter) {
  apply(Inbound(declaration_, {{.id = "a", .idempotency_key = "a"}}));
  const std::int64_t number = park({.id = "b"});
  stage({});
  const Inbound unfinished(declaration_, {{.id = "c", .idempotency_key = "c"}});
  const auto writer = store_->begin(enrolled_);
  run_handlers(*writer, unfinished);
  writer->flush();

  const auto store = under_->open({.lock = 200ms});  // then whoever waits throws
  const auto page = list_inbox(*store, {}, std::nullopt, 10);
  ASSERT_EQ(page->rows.size(), 1u);
  const Key key = page->rows[0].key;
  EXPECT_TRUE(read_message(*store, key));
  EXPECT_FALSE(read_body(*store, key));
  EXPECT_EQ(find_messages(*store, {.consumer = enrolled_.name, .id = "a"}).size(), 1u);
  EXPECT_EQ(consumer_names(*store).size(), 1u);
  EXPECT_EQ(list_quarantine(*store, {}, std::nullopt, 10).rows.size(), 1u);
  EXPECT_EQ(count_quarantine(*store, {}), 1);
  EXPECT_TRUE(read_parked(*store, number));
  EXPECT_TRUE(read_parked_body(*store, number));
  EXPECT_EQ(preview(*store, QuarantineFilter()).eligible, 1);
  const std::int64_t staged = list_outbox(*store, {}, std::nullopt, 10).rows.at(0).number;
  EXPECT_EQ(count_outbox(*store, {}), 1);
  EXPECT_TRUE(read_outgoing(*store, staged));
  EXPECT_TRUE(read_outgoing_payload(*store, staged));
  EXPECT_EQ(preview(*store, OutboxFilter()).matching, 1);
  EXPECT_EQ(list_pauses(*store).size(), 0u);
  EXPECT_EQ(read_outbox_backlog(*store).pending, 1);
  EXPECT_EQ(read_backlogs(*store).at(enrolled_.name).parked, 1);
}

}  // namespace
}  // namespace onceward::records
