// Our tables in the user's database: bringing them up to date, and making consumers known.
#pragma once

#include <cstdint>
#include <span>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/migrations.h"
#include "onceward/port/store.h"

namespace onceward::sqlite {

// Whole microseconds since 1970, by the system's clock.
std::int64_t now_microseconds();

SchemaStatus schema_status(Connection& connection, std::span<const Migration> steps = migrations());
// Each step is one transaction, looked at again once the write lock is ours: whoever comes second finds it done.
SchemaStatus migrate(Connection& connection, std::span<const Migration> steps = migrations());
// Throws Fault(schema_missing) or Fault(schema_newer).
void check_schema(Connection& connection, std::span<const Migration> steps = migrations());

// In the transaction that is open, or in one of its own.
Enrolled enroll(Connection& connection, const Declaration& declaration);

}  // namespace onceward::sqlite
