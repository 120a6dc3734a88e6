// The ledger, as people and tools see it: calls to external systems, and what became of each. Reading only; bodies come by a
// call of their own. Throws Fault.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/port/store.h"

namespace onceward::records {

// docs/decisions/0016-calls-that-leave.md says what leads from one to another.
enum class CallState : std::uint8_t {
  planned,
  attempting,
  succeeded,
  failed,
  unknown,
  waiting,  // for approval
  approved,
  refused,
  cancelled,
};
std::string_view name(CallState state);
std::optional<CallState> call_state_named(std::string_view name);

// What is empty says nothing.
struct LedgerFilter {
  std::vector<std::int64_t> numbers{};
  std::vector<CallState> states{};
  std::string endpoint{};
  std::string key{};  // the idempotency key
  std::string business_key{};
  std::optional<Timestamp> since{};  // asked for then or later
  std::optional<Timestamp> until{};  // asked for before

  friend bool operator==(const LedgerFilter&, const LedgerFilter&) = default;
};

struct LedgerRow {
  std::int64_t number = 0;
  Timestamp created_at;
  std::optional<Timestamp> not_before;
  CallState state = CallState::planned;
  std::string endpoint;
  std::string key;
  std::string type;
  std::string business_key;
  std::string tenant;
  std::string correlation_id;
  std::string trace_parent;
  std::string consumer;      // whose handler asked for it; empty: a producer of its own
  std::optional<Key> cause;  // of the inbox
  std::int64_t attempts = 0;
  std::int64_t look_ups = 0;
  std::optional<Timestamp> due_at;
  std::optional<Timestamp> first_attempt_at;
  std::optional<Timestamp> attempted_at;
  std::optional<Timestamp> ended_at;
  std::string external_ref;
  std::string response_hash;  // 32 bytes, or none
  std::string code;
  std::string detail;
  std::string requested_by;  // as the row has it; see requester()
  std::string decided_by;
  std::optional<Timestamp> approved_until;
  std::string owner;  // the dispatcher at which it is under way
  std::int64_t body_bytes = 0;
};

// Who must not be the one to approve it: whom the call names, else its consumer.
const std::string& requester(const LedgerRow& row);

struct CallAttempt {
  std::int64_t number = 0;
  std::string kind;  // call, look_up or person
  std::string who;
  Timestamp began_at;
  std::optional<Timestamp> ended_at;
  std::string outcome;
  std::int64_t status = 0;
  std::string response_hash;
  std::string external_ref;
  std::string detail;
};

struct CallAudit {
  Timestamp at;
  std::string who;
  std::string action;
  std::string why;
  std::string detail;  // JSON
};

// The message whose handler asked for it, as long as the inbox remembers it.
struct CallCause {
  std::string producer;
  std::string id;
};

struct LedgerCall {
  LedgerRow row;
  std::optional<CallCause> cause;
  std::vector<CallAttempt> attempts;  // the latest thousand, in their order
  std::vector<CallAudit> audit;       // the latest hundred, in their order
};

struct LedgerPage {
  std::vector<LedgerRow> rows;
  bool more = false;
};

// Newest first, 1 to 1000 of them, with numbers below `below`.
LedgerPage list_ledger(Store& store, const LedgerFilter& filter, std::optional<std::int64_t> below, int limit);
// Up to `most`: counting costs as much as it finds.
std::int64_t count_ledger(Store& store, const LedgerFilter& filter,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max());
std::optional<LedgerCall> read_call(Store& store, std::int64_t number);
std::optional<std::string> read_call_body(Store& store, std::int64_t number);

}  // namespace onceward::records
