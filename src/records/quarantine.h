// The quarantine, as people and tools see it. Reading only; payloads come by a call of their own. Throws Fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/port/store.h"
#include "src/records/inbox.h"

namespace onceward::records {

enum class QuarantineState : std::uint8_t {
  parked,     // waits for a person
  retrying,   // a person sent it again, and it waits for a worker
  resolved,   // applied since, or parked anew
  discarded,  // a person gave it up; it stays as evidence
};
std::string_view name(QuarantineState state);
std::optional<QuarantineState> quarantine_state_named(std::string_view name);

// What is empty says nothing.
struct QuarantineFilter {
  std::vector<std::int64_t> numbers{};
  std::string consumer{};
  std::string reason{};
  std::optional<QuarantineState> state{};
  std::optional<std::string> tenant{};
  std::string producer{};
  std::string id{};
  std::optional<Timestamp> since{};  // parked then or later
  std::optional<Timestamp> until{};  // parked before

  friend bool operator==(const QuarantineFilter&, const QuarantineFilter&) = default;
};

struct QuarantineRow {
  std::int64_t number = 0;
  Timestamp parked_at;
  std::string consumer;
  std::string reason;
  std::string detail;
  QuarantineState state = QuarantineState::parked;
  std::string tenant;
  std::string producer;
  std::string id;
  std::int64_t attempts = 0;
  std::optional<Key> key;  // of its inbox row; nothing where it was refused before it had one
  std::optional<Timestamp> retry_at;
  std::int64_t payload_bytes = 0;
};

struct QuarantinePage {
  std::vector<QuarantineRow> rows;
  bool more = false;
};

// Newest first, 1 to 1000 of them, with numbers below `below`.
QuarantinePage list_quarantine(Store& store, const QuarantineFilter& filter, std::optional<std::int64_t> below,
                               int limit);
std::int64_t count_quarantine(Store& store, const QuarantineFilter& filter);
std::optional<QuarantineRow> read_parked(Store& store, std::int64_t number);
std::optional<Body> read_parked_body(Store& store, std::int64_t number);

}  // namespace onceward::records
