// The statements over messages that wait, and over the attempts that each has used. Who writes holds the write lock, so
// nobody else can hold a message.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "adapters/sqlite/tables.h"

namespace onceward::sqlite {

void write_attempts(Connection& connection, std::span<const AttemptRow> rows, const Stamp& stamp);
std::vector<int> used_attempts(Connection& connection, std::span<const Key> messages);

std::vector<Kept> take_due(Connection& connection, std::int32_t consumer, std::size_t most,
                           std::chrono::milliseconds lease);
std::optional<Kept> start_due(Connection& connection, std::int32_t consumer, std::chrono::milliseconds lease);
std::optional<std::chrono::milliseconds> next_due(Connection& connection, std::int32_t consumer);

bool waits(Connection& connection, const Key& message);
// In place of what was kept of a message that waited.
void write_replacement(Connection& connection, const OutcomeRow& row, const Stamp& stamp);
// Rows of the quarantine that were sent again, by number.
void write_resolved(Connection& connection, std::span<const std::int64_t> numbers);

}  // namespace onceward::sqlite
