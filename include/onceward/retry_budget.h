// How often something is tried, and how long it waits in between: twice as long each time, with jitter.
#pragma once

#include <chrono>

namespace onceward {

struct RetryBudget {
  int attempts = 5;  // of the message's own failures; an outage uses none
  std::chrono::milliseconds first_delay{1000};
  std::chrono::milliseconds longest_delay{300'000};
  friend bool operator==(const RetryBudget&, const RetryBudget&) = default;
};

}  // namespace onceward
