// A row of the outbox as the message that it becomes. The same row always becomes the same bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "onceward/envelope.h"
#include "onceward/transaction.h"

namespace onceward::relay {

struct OutboxRow {
  std::int64_t tick = 0, position = 0;  // of its place
  int slot = 0;
  int attempts = 0;  // of those that have waited
  std::chrono::microseconds waited{0};
  // The row's own columns, kept by `storage`: the key orders, the type finds the route. Of a dead letter they are not the
  // message's.
  std::string_view key{}, id{}, type{};
  std::shared_ptr<const void> storage{};
  Envelope envelope;
  std::string_view partition_key{};  // that it is published with; in the storage of either
  std::size_t payload_bytes = 0;     // of the row, as a page counts them
};

// The columns that make a row, of a table that is named `o`.
inline constexpr std::string_view row_columns =
    "o.position, o.key, o.id, o.type, o.tenant, o.aggregate_type, o.aggregate_id, o.correlation_id, o.causation_id, "
    "o.trace_parent, o.content_type, o.headers, o.payload, o.aggregate_version, o.event_version, {micros o.staged_at}";
inline constexpr std::size_t row_width = 16;  // further columns may follow

// Of each key, those of one aggregate that have its version change places until their versions rise.
void order_by_version(std::span<OutboxRow> rows);

// Takes the texts over from `row`. The slot is left to the caller.
OutboxRow outbox_row(Row row, std::string_view producer);

}  // namespace onceward::relay
