// The statements over messages that wait, and over the attempts that each has used.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "adapters/postgres/connection.h"
#include "src/unit/session.h"

namespace onceward::postgres {

// How many attempts the message {} has used, as an expression.
inline constexpr const char* used_attempts =
    "(SELECT greatest(0, coalesce(sum(CASE kind WHEN 'void' THEN -1 ELSE 1 END), 0))::integer FROM onceward.attempt "
    "WHERE key = {0} AND number > (SELECT coalesce(max(number), 0) FROM onceward.attempt WHERE key = {0} AND "
    "kind = 'reset'))";

void queue_attempts(Connection& connection, std::span<const AttemptRow> rows);
void queue_used(Connection& connection, std::span<const Key> messages);
std::vector<int> read_used(const PGresult* result);

void queue_take_due(Connection& connection, std::int32_t consumer, std::size_t most, std::chrono::milliseconds lease);
void queue_start_due(Connection& connection, std::int32_t consumer, std::chrono::milliseconds lease);
std::vector<Kept> read_due(const PGresult* result);
void queue_next_due(Connection& connection, std::int32_t consumer);
std::optional<std::chrono::milliseconds> read_next_due(const PGresult* result);

// A row is the message, held.
void queue_resume(Connection& connection, const Batch& batch);
// In place of what was kept of a message that waited.
void queue_replacement(Connection& connection, const OutcomeRow& row);
// Rows of the quarantine that were sent again, by number.
void queue_resolved(Connection& connection, std::span<const std::int64_t> numbers);

}  // namespace onceward::postgres
