// The steps by which a store's tables came to be what they are.
#pragma once

#include <span>
#include <string_view>

#include "onceward/port/store.h"

namespace onceward {

struct Migration {
  int number;
  std::string_view name;
  std::string_view sql;  // several statements; they and the step's row in the table of steps are one transaction
};

SchemaStatus status_of(int version, std::span<const Migration> steps);
// Throws Fault(schema_newer) for tables that a newer program has made.
void refuse_newer(int version, std::span<const Migration> steps);
// Throws Fault(schema_missing) or Fault(schema_newer).
void require_current(int version, std::span<const Migration> steps);

}  // namespace onceward
