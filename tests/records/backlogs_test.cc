#include "src/records/backlogs.h"

#include "tests/records/suite.h"

namespace onceward::records {
namespace {

class BacklogRecords : public OnEveryStore {};

TEST_P(BacklogRecords, CountWhatWaitsAndWhatIsParkedByConsumer) {
  const Enrolled other = store_->enroll(consumer("shipping"));
  put_outcome("80000000-0000-4000-8000-000000000001", State::retryable_failed, true);
  put_outcome("80000000-0000-4000-8000-000000000002", State::claimed, true);
  put_outcome("80000000-0000-4000-8000-000000000003", State::rejected);
  put_outcome("80000000-0000-4000-8000-000000000004", State::quarantined);
  park({.id = "a"});
  park({.id = "b", .state = "retrying"});
  park({.id = "e", .key = "80000000-0000-4000-8000-000000000001", .state = "retrying"});
  park({.id = "c", .consumer = other.number});
  park({.id = "d", .consumer = other.number});
  const auto backlogs = read_backlogs(*store_);
  ASSERT_EQ(backlogs.size(), 2u);
  EXPECT_EQ(backlogs.at("billing").waiting, 3) << "one that was sent again has no inbox row";
  EXPECT_EQ(backlogs.at("billing").parked, 1);
  EXPECT_EQ(backlogs.at("shipping").waiting, 0);
  EXPECT_EQ(backlogs.at("shipping").oldest_waiting.count(), 0);
  EXPECT_EQ(backlogs.at("shipping").parked, 2);
}

TEST_P(BacklogRecords, TheAgeIsThatOfTheOldestByWhenItWasReceived) {
  put_outcome("80000000-0000-4000-8000-000000000001", State::retryable_failed, true);
  put_outcome("80000000-0000-4000-8000-000000000002", State::retryable_failed, true);
  put_outcome("80000000-0000-4000-8000-000000000003", State::rejected);
  const auto received = [&](const char* key, std::int64_t seconds) {
    reader().run(fmt::format("UPDATE {} SET received_at = {} WHERE key = {}", table("inbox"), time_literal(seconds),
                             key_literal(key)));
  };
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  received("80000000-0000-4000-8000-000000000001", now.count() - 60);
  received("80000000-0000-4000-8000-000000000002", now.count() - 3600);
  received("80000000-0000-4000-8000-000000000003", now.count() - 90'000);
  const auto age = read_backlogs(*store_).at("billing").oldest_waiting;
  EXPECT_GE(age, std::chrono::seconds(3599));
  EXPECT_LE(age, std::chrono::seconds(3700));
}

TEST_P(BacklogRecords, AnAttemptThatHasNotEndedHasAnAgeOfItsOwn) {
  put_outcome("80000000-0000-4000-8000-000000000001", State::retryable_failed, true);
  EXPECT_EQ(read_backlogs(*store_).at("billing").oldest_claimed.count(), 0);
  put_outcome("80000000-0000-4000-8000-000000000002", State::claimed, true);
  const auto since = std::chrono::system_clock::now().time_since_epoch() - std::chrono::seconds(1'700'000'000);
  const auto age = read_backlogs(*store_).at("billing").oldest_claimed;
  EXPECT_LT(std::chrono::abs(age - since), std::chrono::seconds(60));
}

TEST_P(BacklogRecords, OfTheOutboxCountWhatIsNotPublishedAndWhatIsQuarantined) {
  OutboxBacklog none = read_outbox_backlog(*store_);
  EXPECT_EQ(none.pending, 0);
  EXPECT_EQ(none.oldest_pending.count(), 0);
  EXPECT_EQ(none.quarantined, 0);
  for (const char* state : {"pending", "pending", "waiting", "behind", "aside", "aside", "aside", "discarded"}) {
    stage({.state = state});
  }
  set_back(stage({}), "waiting");
  const OutboxBacklog backlog = read_outbox_backlog(*store_);
  EXPECT_EQ(backlog.pending, 5) << "one that is found in both is one";
  EXPECT_EQ(backlog.quarantined, 3);
}

TEST_P(BacklogRecords, OfTheOutboxTheAgeIsThatOfTheOldestThatIsNotPublished) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto age = [&] { return read_outbox_backlog(*store_).oldest_pending; };
  stage({.state = "aside", .at_seconds = now - 90'000});
  stage({.state = "discarded", .at_seconds = now - 90'000});
  EXPECT_EQ(age().count(), 0);
  stage({.at_seconds = now + 600});
  EXPECT_EQ(age().count(), 0) << "a clock that goes ahead makes none younger than now";
  stage({.at_seconds = now - 100});
  EXPECT_LT(std::chrono::abs(age() - std::chrono::seconds(100)), std::chrono::seconds(60));
  stage({.state = "behind", .at_seconds = now - 3'600});
  EXPECT_LT(std::chrono::abs(age() - std::chrono::seconds(3'600)), std::chrono::seconds(60));
}

TEST_P(BacklogRecords, OfTheOutboxNoMoreAreCountedThanItCostsLittleToCount) {
  stage_many(most_counted + 5, "waiting", stage({}));
  EXPECT_EQ(read_outbox_backlog(*store_).pending, most_counted);
  reader().run("UPDATE " + table("outbox_waiting") + " SET state = 'aside'");
  EXPECT_EQ(read_outbox_backlog(*store_).pending, 1);
  EXPECT_EQ(read_outbox_backlog(*store_).quarantined, most_counted);
}

ONCEWARD_ON_EVERY_STORE(BacklogRecords);

}  // namespace
}  // namespace onceward::records
