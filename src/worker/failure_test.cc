#include "src/worker/failure.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace onceward {
namespace {

using namespace std::chrono_literals;

RetryBudget budget() { return {.attempts = 4, .first_delay = 100ms, .longest_delay = 350ms}; }

TEST(Failure, IsWhatTheBusinessDidNotDecide) {
  EXPECT_FALSE(failure_in(Done{}));
  EXPECT_FALSE(failure_in(Ignored{"x"}));
  EXPECT_FALSE(failure_in(Rejected{"x"}));
  EXPECT_FALSE(failure_in(Retry{"x"})->permanent);
  EXPECT_TRUE(failure_in(Failed{"x"})->permanent);
  EXPECT_TRUE(failure_in(Unknown{"x"})->permanent);
}

TEST(Failure, WaitsLongerEachTimeAndIsQuarantinedWithItsLastAttempt) {
  const Failure failure{"busy", "detail"};
  for (int attempt = 1, expected = 100; attempt < 4; ++attempt, expected *= 2) {
    for (int i = 0; i < 50; ++i) {
      const Outcome outcome = after_failure(failure, attempt, budget());
      const auto after = std::get<Retry>(outcome).after;
      const auto delay = std::min<std::chrono::milliseconds>(std::chrono::milliseconds(expected), 350ms);
      EXPECT_GE(after, delay / 2);
      EXPECT_LE(after, delay);
    }
  }
  const Outcome last = after_failure(failure, 4, budget());
  EXPECT_EQ(std::get<Failed>(last).code, "busy");
  EXPECT_EQ(std::get<Failed>(last).detail, "detail");
}

TEST(Failure, ThatIsPermanentIsQuarantinedAtOnce) {
  EXPECT_TRUE(std::holds_alternative<Failed>(after_failure({"bad", "", true}, 1, budget())));
}

TEST(Failure, IsPutOffAsTheHandlerAskedWithinTheLongestDelay) {
  EXPECT_EQ(std::get<Retry>(after_failure({"busy", "", false, 70ms}, 1, budget())).after, 70ms);
  EXPECT_EQ(std::get<Retry>(after_failure({"busy", "", false, 70s}, 1, budget())).after, 350ms);
}

TEST(Failure, KeepsOneLineOfBoundedTextOfAnException) {
  const Failure failure = failure_of(std::runtime_error("a\nb\x01" + std::string(5000, 'x') + "\xff"));
  EXPECT_EQ(failure.code, "unclassified");
  EXPECT_LE(failure.detail.size(), 300u);
  EXPECT_TRUE(failure.detail.starts_with("a b x"));
}

TEST(Failure, IsNeverAnOutage) {
  EXPECT_TRUE(is_outage({FaultCode::store_unavailable, Poisons::connection, ""}));
  EXPECT_TRUE(is_outage({FaultCode::lost_race, Poisons::transaction, ""}));
  EXPECT_TRUE(is_outage({FaultCode::store_full, Poisons::transaction, ""}));
  EXPECT_TRUE(is_outage({FaultCode::statement_failed, Poisons::connection, ""}));
  EXPECT_FALSE(is_outage({FaultCode::statement_failed, Poisons::transaction, ""}));
  EXPECT_FALSE(is_outage({FaultCode::timed_out, Poisons::transaction, ""}));
  EXPECT_FALSE(is_outage({FaultCode::constraint_violated, Poisons::transaction, ""}));
}

}  // namespace
}  // namespace onceward
