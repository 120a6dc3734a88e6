// How rows of the quarantine are found and read, for lists and for what is done to them.
#pragma once

#include <string_view>
#include <vector>

#include "src/records/quarantine.h"
#include "src/records/where.h"

namespace onceward::records {

void add_conditions(Where& where, const QuarantineFilter& filter);
std::vector<QuarantineRow> read_rows(Look& look, Dialect dialect, const QuarantineFilter& filter,
                                     const RowOrder& order);

}  // namespace onceward::records
