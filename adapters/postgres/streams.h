// The statements over streams whose progress is kept here: a row each, changed in place.
#pragma once

#include <span>

#include "adapters/postgres/connection.h"
#include "src/unit/session.h"

namespace onceward::postgres {

void queue_hold(Connection& connection, std::int32_t consumer, std::span<const std::string_view> streams);
Streams read_held(const PGresult* result);
void queue_advances(Connection& connection, std::int32_t consumer, std::span<const Advance> advances, bool believed);

void queue_take_over(Connection& connection, std::int32_t consumer, std::span<const std::string> streams);
// In the order of `streams`.
std::vector<TakenOver> read_taken_over(const PGresult* result, std::span<const std::string> streams);
void queue_begin_stream(Connection& connection, std::int32_t consumer, const Stream& stream, std::int64_t next);
std::optional<Stream> read_begun(const PGresult* result);

}  // namespace onceward::postgres
