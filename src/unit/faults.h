// Faults that every store tells in the same words.
#pragma once

#include <string>

#include "onceward/fault.h"

namespace onceward {

Fault unit_still_open();
Fault fact_exists(std::string store_code);
Fault call_conflict(std::string store_code = {});

}  // namespace onceward
