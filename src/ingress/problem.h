// What is answered where there is no answer of a handler's: problem+json (RFC 9457). The code is stable and part of the type;
// docs/reference/ingress.md has a line for each. Texts say nothing of what was sent, now or before.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "onceward/ingress.h"

namespace onceward::ingress {

enum class Problem : std::uint8_t {
  key_missing,
  key_malformed,
  request_malformed,
  body_too_large,
  request_in_flight,
  key_reused,
  handler_failed,
  answer_refused,
  store_unavailable,
};

IngressAnswer answer_of(Problem problem, std::chrono::seconds retry_after = std::chrono::seconds(0));

// The same for problems of somebody else's. `code` is of letters and '_'.
IngressAnswer problem_answer(unsigned status, std::string_view code, std::string_view title, std::string_view detail);

}  // namespace onceward::ingress
