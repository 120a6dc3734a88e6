// The tables' version and the consumers enrolled in them.
#pragma once

#include <span>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/migrations.h"
#include "onceward/port/store.h"

namespace onceward::postgres {

SchemaStatus schema_status(Connection& connection, std::span<const Migration> steps = migrations());
// Throws Fault(schema_missing) or Fault(schema_newer).
void check_schema(Connection& connection, std::span<const Migration> steps = migrations());
// Each step is one transaction under a lock of its own: whoever comes second finds it done.
SchemaStatus migrate(Connection& connection, std::span<const Migration> steps = migrations());

// Also inside a transaction of the caller's.
Enrolled enroll(Connection& connection, const Declaration& declaration);

}  // namespace onceward::postgres
