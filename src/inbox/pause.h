// How long a loop may wait before it tries again.
#pragma once

#include <chrono>

#include "onceward/port/store.h"

namespace onceward {

// The longest pause before attempt `attempt` (1 is the second): doubles each time, up to the limit's own bound.
std::chrono::microseconds longest_pause(const RetryLimit& limit, int attempt);

}  // namespace onceward
