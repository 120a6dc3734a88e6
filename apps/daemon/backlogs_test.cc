#include "apps/daemon/backlogs.h"

#include <gmock/gmock.h>

#include "tests/records/suite.h"

namespace onceward::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

class OutboxGauges : public records::OnEveryStore {
 protected:
  std::string text() { return metrics_text({}, read_backlogs(*store_)); }
};

TEST_P(OutboxGauges, AreOfTheStoreAndNotOfAConsumer) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  stage({.at_seconds = now - 5'000});
  stage({.state = "behind", .at_seconds = now});
  for (const char* state : {"aside", "aside", "aside", "discarded"}) stage({.state = state});
  EXPECT_THAT(text(), HasSubstr("\nonceward_outbox_pending 2\n"));
  EXPECT_THAT(text(), HasSubstr("\nonceward_outbox_oldest_pending_age_seconds 50"));
  EXPECT_THAT(text(), HasSubstr("\nonceward_outbox_quarantined 3\n"));
  EXPECT_THAT(text(), HasSubstr("\nonceward_inbox_pending{consumer=\"billing\"} 0\n"));
}

TEST_P(OutboxGauges, AreZeroWhereNothingIsToLeave) {
  EXPECT_THAT(text(), HasSubstr("\nonceward_outbox_pending 0\n"));
  EXPECT_THAT(text(), HasSubstr("\nonceward_outbox_oldest_pending_age_seconds 0\n"));
  EXPECT_THAT(text(), HasSubstr("\nonceward_outbox_quarantined 0\n"));
}

TEST_P(OutboxGauges, WhatIsNotKnownIsNotTold) {
  stage({});
  Backlogs backlogs = read_backlogs(*store_);
  backlogs.clear();
  EXPECT_THAT(metrics_text({}, backlogs), Not(HasSubstr("\nonceward_outbox_")));
  EXPECT_THAT(metrics_text({}, backlogs), Not(HasSubstr("\nonceward_inbox_pending")));
}

INSTANTIATE_TEST_SUITE_P(Store, OutboxGauges, testing::ValuesIn(fixtures::backends()), records::backend_name);

}  // namespace
}  // namespace onceward::daemon
