// How the program ends; docs/reference/commands.md lists them.
#pragma once

#include "onceward/fault.h"

namespace onceward {

enum Exit { ok = 0, error = 1, usage = 2, not_found = 3, conflict = 4, unavailable = 5, refused = 6 };

Exit exit_of(FaultCode fault);

}  // namespace onceward
