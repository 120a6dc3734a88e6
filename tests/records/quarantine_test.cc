#include "src/records/quarantine.h"

#include "src/records/steps.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

class QuarantineRecords : public OnEveryStore {
 protected:
  Numbers listed(const QuarantineFilter& filter) {
    Numbers numbers;
    for (const QuarantineRow& row : list_quarantine(*store_, filter, std::nullopt, 100).rows) {
      numbers.push_back(row.number);
    }
    EXPECT_EQ(count_quarantine(*store_, filter), static_cast<std::int64_t>(numbers.size()));
    return numbers;
  }
};

TEST_P(QuarantineRecords, PagesShowEachRowOnceNewestFirst) {
  Numbers parked;
  for (int i = 0; i < 5; ++i) parked.insert(parked.begin(), park({.id = fmt::format("m{}", i)}));
  Numbers seen;
  std::optional<std::int64_t> below;
  for (const bool more : {true, true, false}) {
    const QuarantinePage page = list_quarantine(*store_, {}, below, 2);
    EXPECT_EQ(page.more, more);
    for (const QuarantineRow& row : page.rows) seen.push_back(row.number);
    below = page.rows.back().number;
  }
  EXPECT_EQ(seen, parked);
}

TEST_P(QuarantineRecords, FiltersAndCountsByEach) {
  const Enrolled other = store_->enroll(consumer("shipping"));
  const auto a = park({.reason = "conflict", .id = "a", .at_seconds = 100});
  const auto b = park({.id = "b", .state = "retrying", .producer = "mail", .at_seconds = 200});
  const auto c = park({.id = "c", .consumer = other.number, .tenant = "", .at_seconds = 300});
  EXPECT_EQ(listed({}), (Numbers{c, b, a}));
  EXPECT_EQ(listed({.numbers = {a, c, 999}}), (Numbers{c, a}));
  EXPECT_EQ(listed({.consumer = "shipping"}), Numbers{c});
  EXPECT_EQ(listed({.consumer = "nobody"}), Numbers{});
  EXPECT_EQ(listed({.reason = "conflict"}), Numbers{a});
  EXPECT_EQ(listed({.state = QuarantineState::retrying}), Numbers{b});
  EXPECT_EQ(listed({.tenant = ""}), Numbers{c});
  EXPECT_EQ(listed({.producer = "mail"}), Numbers{b});
  EXPECT_EQ(listed({.id = "a"}), Numbers{a});
  EXPECT_EQ(listed({.since = Timestamp(std::chrono::seconds(200))}), (Numbers{c, b}));
  EXPECT_EQ(listed({.until = Timestamp(std::chrono::seconds(200))}), Numbers{a});
  EXPECT_EQ(listed({.reason = "conflict", .state = QuarantineState::retrying}), Numbers{});
}

TEST_P(QuarantineRecords, ARowIsShownWithItsIdentity) {
  const auto number = park({.id = "a", .key = "80000000-0000-4000-8000-000000000001", .at_seconds = 100});
  const auto row = read_parked(*store_, number);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->number, number);
  EXPECT_EQ(row->parked_at, Timestamp(std::chrono::seconds(100)));
  EXPECT_EQ(row->consumer, "billing");
  EXPECT_EQ(row->reason, "bad_field");
  EXPECT_EQ(row->detail, "it was refused");
  EXPECT_EQ(row->state, QuarantineState::parked);
  EXPECT_EQ(row->tenant, "main");
  EXPECT_EQ(row->producer, "shop");
  EXPECT_EQ(row->id, "a");
  EXPECT_EQ(row->attempts, 3);
  EXPECT_EQ(to_string(row->key.value()), "80000000-0000-4000-8000-000000000001");
  EXPECT_FALSE(row->retry_at);
  EXPECT_EQ(row->payload_bytes, 6);
  EXPECT_FALSE(read_parked(*store_, number + 1));
}

TEST_P(QuarantineRecords, TheBodyIsReadByteForByte) {
  const auto number = park({});
  EXPECT_EQ(read_parked_body(*store_, number).value().payload, "secret");
  EXPECT_EQ(read_parked_body(*store_, number)->envelope, "{}");
  EXPECT_FALSE(read_parked_body(*store_, number + 1));
}

TEST(QuarantineState, NamesAreReadBack) {
  for (const auto state :
       {QuarantineState::parked, QuarantineState::retrying, QuarantineState::resolved, QuarantineState::discarded}) {
    EXPECT_EQ(quarantine_state_named(name(state)), state);
  }
  EXPECT_FALSE(quarantine_state_named("gone"));
}

ONCEWARD_ON_EVERY_STORE(QuarantineRecords);

}  // namespace
}  // namespace onceward::records
