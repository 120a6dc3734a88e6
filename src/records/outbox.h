// The outbox, as people and tools see it: messages that have not left yet, and those that could not. Reading only; payloads
// come by a call of their own. A row's number is its position. Throws Fault.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/port/store.h"

namespace onceward::records {

enum class OutboxState : std::uint8_t {
  pending,      // its turn has not come
  waiting,      // for its next attempt
  behind,       // one of its ordered key, which waits or is quarantined
  quarantined,  // its attempts are used up, and it waits for a person
  discarded,    // a person gave it up; it stays as evidence
};
std::string_view name(OutboxState state);
std::optional<OutboxState> outbox_state_named(std::string_view name);

// What is empty says nothing.
struct OutboxFilter {
  std::vector<std::int64_t> numbers{};
  std::vector<OutboxState> states{};
  std::string type{};  // or what it begins with
  std::optional<std::string> key{};
  std::string id{};
  std::optional<Timestamp> since{};  // staged then or later
  std::optional<Timestamp> until{};  // staged before

  friend bool operator==(const OutboxFilter&, const OutboxFilter&) = default;
};

struct OutboxRow {
  std::int64_t number = 0;
  Timestamp staged_at;
  OutboxState state = OutboxState::pending;
  std::string id;
  std::string type;
  std::string key;
  std::string tenant;
  std::string aggregate_type;
  std::string aggregate_id;
  std::optional<std::int64_t> aggregate_version;
  std::optional<std::int64_t> event_version;
  std::string correlation_id;
  std::string causation_id;
  std::string trace_parent;
  std::string content_type;
  std::string headers;       // an object of texts, as JSON; empty: none
  std::string consumer;      // whose handler staged it; empty: a producer of its own
  std::optional<Key> cause;  // of the inbox
  std::int64_t payload_bytes = 0;
  // Of those that are not pending.
  std::int64_t attempts = 0;
  std::optional<Timestamp> due_at;  // of one that waits
  std::string reason;
  std::string detail;
  std::optional<Timestamp> entered_at;  // since when it is not pending
};

struct OutboxPage {
  std::vector<OutboxRow> rows;
  bool more = false;
};

// Newest first, 1 to 1000 of them, with numbers below `below`.
OutboxPage list_outbox(Store& store, const OutboxFilter& filter, std::optional<std::int64_t> below, int limit);
// Up to `most` of those that are pending, and of the others: counting costs as much as it finds.
std::int64_t count_outbox(Store& store, const OutboxFilter& filter,
                          std::int64_t most = std::numeric_limits<std::int64_t>::max());
std::optional<OutboxRow> read_outgoing(Store& store, std::int64_t number);
std::optional<std::string> read_outgoing_payload(Store& store, std::int64_t number);

}  // namespace onceward::records
