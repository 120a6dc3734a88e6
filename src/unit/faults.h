// Faults that every store tells in the same words.
#pragma once

#include <string>
#include <string_view>

#include "onceward/fault.h"

namespace onceward {

// Asked for what cannot be done; nothing of it was sent.
Fault refused(const char* what);
Fault unit_still_open();
Fault only_reads();
// Throws refused() for a statement that no store is to see.
void check_statement(std::string_view sql);
// There is no way back to a mark.
Fault transaction_gone();
Fault fact_exists(std::string store_code);
Fault call_conflict(std::string store_code = {});

}  // namespace onceward
