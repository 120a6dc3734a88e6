// How rows of the ledger are found and read, for lists and for what is done to them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/records/ledger.h"
#include "src/records/where.h"

namespace onceward::records {

inline constexpr std::string_view ledger_columns =
    "l.number, {micros l.created_at}, {micros l.not_before}, l.state, l.endpoint, l.idempotency_key, l.type, "
    "l.business_key, l.tenant, l.correlation_id, l.trace_parent, c.name, l.cause, l.attempts, l.look_ups, {micros l.due_at}, "
    "{micros l.first_attempt_at}, {micros l.attempted_at}, {micros l.ended_at}, l.external_ref, l.response_hash, l.code, "
    "l.detail, l.requested_by, l.decided_by, {micros l.approved_until}, l.owner, length(l.body)";
inline constexpr std::string_view ledger_with_consumers = "{ledger} l LEFT JOIN {consumer} c ON c.number = l.consumer";

LedgerRow ledger_row(const Row& row);  // of the columns above
void add_conditions(Where& where, const LedgerFilter& filter);

std::int64_t count_rows(Look& look, Dialect dialect, const LedgerFilter& filter, std::int64_t most);
std::vector<LedgerRow> read_rows(Look& look, Dialect dialect, const LedgerFilter& filter, const RowOrder& order);

}  // namespace onceward::records
