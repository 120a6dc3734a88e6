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

ONCEWARD_ON_EVERY_STORE(BacklogRecords);

}  // namespace
}  // namespace onceward::records
