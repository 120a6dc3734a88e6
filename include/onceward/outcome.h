// What the business decided about a message. An Outcome is a value; what the world did to us is a Fault.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "onceward/identity.h"

namespace onceward {

// Done, Ignored and Rejected keep what the handler wrote and staged; Retry, Failed and Unknown undo it. A code is stable and
// short; a detail is for people, and holds no payload.
struct Done {
  std::string result;  // kept, and answered to duplicates; most handlers have none
};
struct Ignored {  // valid, nothing to do
  std::string code;
};
struct Rejected {  // the business said no: recorded, acknowledged, never retried
  std::string code;
};
struct Retry {  // transient: waits in our store
  std::string code;
  std::chrono::milliseconds after{0};  // 0: by the consumer's budget
  std::string detail{};
};
struct Failed {  // will never work: quarantined with its bytes
  std::string code;
  std::string detail{};
};
struct Unknown {  // something may have happened outside: quarantined, since only a person can say whether to try again
  std::string code;
  std::string detail{};
};
using Outcome = std::variant<Done, Ignored, Rejected, Retry, Failed, Unknown>;

// The state of a message in the inbox; the numbers are what the tables hold.
enum class State : std::int16_t {
  received = 1,
  claimed = 2,
  processed = 3,
  duplicate = 4,
  retryable_failed = 5,
  quarantined = 6,
  ignored = 7,
  superseded = 8,
  rejected = 9,
  waiting_gap = 10,
};

std::string_view name(State state);
State state_of(const Outcome& outcome);
// Whether nothing more will happen to the message by itself.
constexpr bool terminal(State state) {
  return state != State::received && state != State::claimed && state != State::retryable_failed &&
         state != State::waiting_gap;
}

// The outcome of a message's first processing, as the store keeps it.
struct Recorded {
  State state = State::processed;
  std::string code;
  std::string result;
  std::optional<Key> original;  // of a business duplicate: the message that was applied
  friend bool operator==(const Recorded&, const Recorded&) = default;
};

}  // namespace onceward
