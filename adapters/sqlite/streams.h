// The statements over streams whose progress is kept here. Who writes holds the write lock, and with it every stream.
#pragma once

#include <span>

#include "adapters/sqlite/connection.h"
#include "src/unit/session.h"

namespace onceward::sqlite {

Streams streams_at(Connection& connection, std::int32_t consumer, std::span<const std::string_view> streams);
void write_advances(Connection& connection, std::int32_t consumer, std::span<const Advance> advances);

// In the order of `streams`.
std::vector<TakenOver> take_over(Connection& connection, std::int32_t consumer, std::span<const std::string> streams);
std::optional<Stream> begin_stream(Connection& connection, std::int32_t consumer, const Stream& stream,
                                   std::int64_t next);

}  // namespace onceward::sqlite
