// The tables' version and the consumers enrolled in them.
#pragma once

#include "adapters/postgres/connection.h"
#include "onceward/port/store.h"

namespace onceward::postgres {

SchemaStatus schema_status(Connection& connection);
// Throws Fault(schema_missing) or Fault(schema_newer).
void check_schema(Connection& connection);
SchemaStatus migrate(Connection& connection);

// Also inside a transaction of the caller's.
Enrolled enroll(Connection& connection, const Declaration& declaration);

}  // namespace onceward::postgres
