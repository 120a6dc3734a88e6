// What becomes of a call: of one that is due, and of one that was answered. Pure; docs/decisions/0016-calls-that-leave.md has
// the table.
#pragma once

#include <chrono>
#include <optional>

#include "onceward/endpoint_declaration.h"
#include "onceward/port/endpoint.h"
#include "src/dispatch/standing.h"

namespace onceward::dispatch {

std::string_view name(EndpointAnswer::Kind kind);

// What the dispatcher remembers of a request until it is answered.
struct Asked {
  std::int64_t number = 0;
  int attempt = 0;
  bool look_up = false;
  bool settled = false;  // of a look-up: "not done" is to be believed
};

struct Step {
  Change change;
  enum class Start : std::uint8_t { nothing, call, look_up };
  Start start = Start::nothing;
  std::chrono::microseconds within{};  // of the look: later it must not start
  bool settled = false;
};

class Policy {
 public:
  // `owner` is whose attempts are ours.
  Policy(const EndpointDeclaration& declaration, bool looks_up, std::chrono::milliseconds longest, std::string owner);

  // Of a call that is due: planned, approved, unknown, or attempting with a lease that has ended.
  Step next(const Standing& standing) const;
  // Nothing: the answer changes the row of its own attempt and no more.
  std::optional<Change> answered(const Standing& standing, const Asked& asked, const EndpointAnswer& answer) const;
  // What of an answer is kept with its attempt.
  static Change told(const EndpointAnswer& answer);
  // Of one that is marked as ours and was never started: as if it had not been marked, after a pause.
  Change given_back(const Standing& standing) const;

 private:
  Change from(const Standing& standing, CallState state) const;
  Step start_call(const Standing& standing) const;
  Step start_look_up(const Standing& standing) const;
  Change unknown(const Standing& standing, std::string code, std::string detail) const;
  Change back(const Standing& standing, std::chrono::milliseconds due) const;
  Change put_off(const Standing& standing, std::chrono::milliseconds after) const;
  Change call_answered(const Standing& standing, const EndpointAnswer& answer) const;
  Change look_up_answered(const Standing& standing, const Asked& asked, const EndpointAnswer& answer) const;
  bool concerns(const Standing& standing, const Asked& asked, EndpointAnswer::Kind kind) const;
  bool can_look_up(const Standing& standing) const { return looks_up_ && standing.look_ups < look_up_.attempts; }
  std::string_view why_not_again(const Standing& standing) const;  // empty: it may be sent again
  std::chrono::microseconds key_left(const Standing& standing) const;
  std::chrono::milliseconds delay(int attempts) const;

  const EndpointDeclaration& declaration_;
  const bool looks_up_;
  const LookUpDeclaration look_up_;
  const std::chrono::milliseconds longest_;
  const std::string owner_;
};

}  // namespace onceward::dispatch
