// How rows of the outbox are found and read, for lists and for what is done to them. Those that are pending stand in one
// relation, the others in another; a row that is seen in both has left the first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/records/outbox.h"
#include "src/records/where.h"

namespace onceward::records {

inline constexpr std::string_view pending_outbox = "{outbox_pending} o";
inline constexpr std::string_view waiting_outbox = "{outbox_waiting} o";

// Conditions that find each pending row by one of them, and do not read what has left before: on PostgreSQL that may be
// many times as much.
std::vector<std::string> pending_conditions(Look& look, Dialect dialect);

void add_waiting_conditions(Where& where, const OutboxFilter& filter);

std::int64_t count_rows(Look& look, Dialect dialect, const OutboxFilter& filter, std::int64_t most);
std::vector<OutboxRow> read_rows(Look& look, Dialect dialect, const OutboxFilter& filter, const RowOrder& order);

}  // namespace onceward::records
