// A message's own failure, and what follows from it. What the world did to us is not one: an outage uses up no attempt.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>

#include "onceward/declaration.h"
#include "onceward/fault.h"
#include "onceward/outcome.h"

namespace onceward {

struct Failure {
  enum class By : std::uint8_t { handler, exception, statement, field, crash };
  std::string code;
  std::string
      detail;  // for people, and kept beside the payload; what a handler throws or returns stands in it as it is
  bool permanent = false;
  std::chrono::milliseconds after{0};  // what the handler asked for; 0: by the budget
  By by = By::handler;
};

// Retry, Failed and Unknown are failures; the rest is decided.
std::optional<Failure> failure_in(const Outcome& outcome);
Failure failure_of(const Fault& fault);
Failure failure_of(const std::exception& thrown);
Failure failure_of_something_thrown();

// Whether the database is in the way, and not a message: then everything waits until it is back.
bool is_outage(const Fault& fault);

// How long to wait when `attempts` have been used: spread at random over the upper half of a delay that doubles with each.
std::chrono::milliseconds delay_before(int attempts, const RetryBudget& budget);

// What becomes of a message that has now used `attempts` of its budget.
Outcome after_failure(const Failure& failure, int attempts, const RetryBudget& budget);

}  // namespace onceward
