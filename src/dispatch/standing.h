// A call as the ledger has it, and what is to be written of it. Values only; the names are those of the tables.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onceward/envelope.h"
#include "onceward/identity.h"

namespace onceward::dispatch {

enum class CallState : std::uint8_t {
  planned,
  attempting,
  succeeded,
  failed,
  unknown,
  waiting,
  approved,
  refused,
  cancelled,
};
std::string_view name(CallState state);
CallState state_named(std::string_view name);  // of a name that the table allows

// Times are of the store's clock, seen from the moment of the look.
struct Standing {
  std::int64_t number = 0;
  CallState state = CallState::planned;
  int attempts = 0;      // of the budget, used so far
  int look_ups = 0;      // of theirs
  int last_attempt = 0;  // the highest number of a row of ledger_attempt
  int last_call = 0;     // the highest one that was a call
  std::string owner{};
  std::optional<std::chrono::microseconds> approval_left{};  // below zero: it has passed; nothing: nobody approved it
  std::optional<std::chrono::microseconds> since_first{};    // attempt
  std::optional<std::chrono::microseconds> since_end{};      // of the last attempt
  std::string code{}, detail{};
  std::string external_ref{};
  std::string our_outcome{};  // of our own last attempt at it; empty while it is open
};

// What is asked of the endpoint.
struct Content {
  std::string key, type, business_key, body, correlation_id, trace_parent;
  Timestamp created_at{};
};

struct Change {
  std::int64_t number = 0;
  CallState before = CallState::planned;
  CallState state = CallState::planned;
  std::optional<std::chrono::milliseconds> due{};  // from now; nothing: nobody looks at it again by itself
  int attempts = 0;
  int look_ups = 0;
  int last_attempt = 0;
  std::string owner{};                               // with a lease
  std::optional<std::chrono::milliseconds> lease{};  // from now
  enum class Time : std::uint8_t { none, attempt_begins, attempt_ends };
  Time time = Time::none;
  std::string code{}, detail{};
  std::string external_ref{};             // empty: as it was
  std::optional<PayloadHash> response{};  // nothing: as it was
};

struct Beginning {
  std::int64_t number = 0;
  int attempt = 0;
  bool look_up = false;
};

struct Ending {
  std::int64_t number = 0;
  int attempt = 0;
  std::string outcome{};
  int status = 0;
  std::string external_ref{}, detail{};
  std::optional<PayloadHash> response{};
};

}  // namespace onceward::dispatch
