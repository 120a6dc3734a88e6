// How a row of the inbox is read, for lists and for single messages.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/records/inbox.h"
#include "src/records/statement.h"

namespace onceward::records {

inline constexpr std::string_view inbox_columns =
    "i.key, c.name, i.tenant, i.producer, i.id, {micros i.received_at}, o.state, o.code, {micros o.next_attempt_at}";
inline constexpr int inbox_column_count = 9;
inline constexpr std::string_view inbox_joins =
    "LEFT JOIN {inbox_outcome} o ON o.key = i.key LEFT JOIN {consumer} c ON c.number = i.consumer";

// Of a row that begins with inbox_columns.
InboxRow inbox_row(const Row& row);

// Newest first, from behind `after`.
std::vector<InboxRow> read_page(Look& look, Dialect dialect, const InboxFilter& filter,
                                const std::optional<InboxRow>& after, int limit);

}  // namespace onceward::records
