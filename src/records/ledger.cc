#include "src/records/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "src/records/inbox.h"
#include "src/records/ledger_rows.h"

namespace onceward::records {
namespace {

constexpr std::array<std::string_view, 9> call_states{"planned", "attempting", "succeeded", "failed",   "unknown",
                                                      "waiting", "approved",   "refused",   "cancelled"};
constexpr std::int64_t most_attempts_shown = 1'000;
constexpr std::size_t most_audit_shown = 100;

std::vector<CallAttempt> read_attempts(Look& look, Dialect dialect, std::int64_t number) {
  Statement select(dialect,
                   "SELECT a.number, a.kind, a.who, {micros a.began_at}, {micros a.ended_at}, a.outcome, a.status, "
                   "a.response_hash, a.external_ref, a.detail FROM {ledger_attempt} a JOIN {ledger} l ON l.key = a.key "
                   "WHERE l.number = ");
  select.bind(number).add(" ORDER BY a.number DESC LIMIT ").bind(most_attempts_shown);
  std::vector<CallAttempt> attempts;
  for (const Row& row : select.query(look)) {
    attempts.push_back({number_in(row[0]), text_in(row[1]), text_in(row[2]), time_in(row[3]),
                        unless_null(row[4], time_in), text_in(row[5]), number_in(row[6]), bytes_in(row[7]),
                        text_in(row[8]), text_in(row[9])});
  }
  std::ranges::reverse(attempts);
  return attempts;
}

// A step names its rows at the end of its detail: {...,"numbers":[3,17]}.
bool names_call(std::string_view detail, std::int64_t wanted) {
  constexpr std::string_view begin = "\"numbers\":[";
  const std::size_t at = detail.rfind(begin);
  if (at == detail.npos) return false;
  const char* const end = detail.data() + detail.size();
  for (const char* from = detail.data() + at + begin.size(); from < end;) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(from, end, number);
    if (error != std::errc()) return false;
    if (number == wanted) return true;
    from = next + 1;
  }
  return false;
}

// What was done to it alone names it; what was done to many in steps is looked through.
std::vector<CallAudit> read_audit(Look& look, Dialect dialect, std::int64_t number) {
  const std::string object = fmt::format("ledger/{}", number);
  Statement select(dialect, "SELECT {micros at}, who, action, reason, detail, object FROM {audit} WHERE object = ");
  select.bind(object).add(" OR (object LIKE 'ledger/%-%' AND detail LIKE ").bind(fmt::format("%{}%", number));
  select.add(") ORDER BY number DESC LIMIT 1000");
  std::vector<CallAudit> audit;
  for (const Row& row : select.query(look)) {
    if (audit.size() == most_audit_shown) break;
    if (text_in(row[5]) != object && !names_call(text_in(row[4]), number)) continue;
    audit.push_back({time_in(row[0]), text_in(row[1]), text_in(row[2]), text_in(row[3]), text_in(row[4])});
  }
  std::ranges::reverse(audit);
  return audit;
}

std::optional<CallCause> read_cause(Look& look, Dialect dialect, const LedgerRow& row) {
  if (!row.cause) return std::nullopt;
  Statement select(dialect, "SELECT producer, id FROM {inbox} WHERE key = ");
  const Rows rows = select.bind(*row.cause).query(look);
  if (rows.empty()) return std::nullopt;
  return CallCause{text_in(rows[0][0]), text_in(rows[0][1])};
}

}  // namespace

std::string_view name(CallState state) { return call_states[static_cast<std::size_t>(state)]; }

std::optional<CallState> call_state_named(std::string_view name) {
  const auto found = std::ranges::find(call_states, name);
  if (found == call_states.end()) return std::nullopt;
  return static_cast<CallState>(found - call_states.begin());
}

const std::string& requester(const LedgerRow& row) {
  return row.requested_by.empty() ? row.consumer : row.requested_by;
}

LedgerRow ledger_row(const Row& row) {
  LedgerRow read;
  read.number = number_in(row[0]);
  read.created_at = time_in(row[1]);
  read.not_before = unless_null(row[2], time_in);
  read.state = call_state_named(text_in(row[3])).value_or(CallState::unknown);
  read.endpoint = text_in(row[4]);
  read.key = text_in(row[5]);
  read.type = text_in(row[6]);
  read.business_key = text_in(row[7]);
  read.tenant = text_in(row[8]);
  read.correlation_id = text_in(row[9]);
  read.trace_parent = text_in(row[10]);
  read.consumer = text_in(row[11]);
  read.cause = unless_null(row[12], key_in);
  read.attempts = number_in(row[13]);
  read.look_ups = number_in(row[14]);
  read.due_at = unless_null(row[15], time_in);
  read.first_attempt_at = unless_null(row[16], time_in);
  read.attempted_at = unless_null(row[17], time_in);
  read.ended_at = unless_null(row[18], time_in);
  read.external_ref = text_in(row[19]);
  read.response_hash = bytes_in(row[20]);
  read.code = text_in(row[21]);
  read.detail = text_in(row[22]);
  read.requested_by = text_in(row[23]);
  read.decided_by = text_in(row[24]);
  read.approved_until = unless_null(row[25], time_in);
  read.owner = text_in(row[26]);
  read.body_bytes = number_in(row[27]);
  return read;
}

void add_conditions(Where& where, const LedgerFilter& filter) {
  if (!filter.numbers.empty()) where.add("l.number ").bind_any(filter.numbers);
  if (!filter.states.empty()) {
    std::vector<std::string> states;
    for (const CallState state : filter.states) states.push_back(fmt::format("'{}'", name(state)));
    where.add(fmt::format("l.state IN ({})", fmt::join(states, ", ")));
  }
  where.with("l.endpoint = ", filter.endpoint);
  where.with("l.idempotency_key = ", filter.key);
  where.with("l.business_key = ", filter.business_key);
  where.with("l.created_at >= ", filter.since);
  where.with("l.created_at < ", filter.until);
}

std::vector<LedgerRow> read_rows(Look& look, Dialect dialect, const LedgerFilter& filter, const RowOrder& order) {
  Statement select(dialect, "SELECT ");
  select.add(ledger_columns).add(" FROM ").add(ledger_with_consumers);
  Where where(select);
  add_conditions(where, filter);
  add_order(where, select, "l.number", order);
  std::vector<LedgerRow> rows;
  for (const Row& row : select.query(look)) rows.push_back(ledger_row(row));
  return rows;
}

std::int64_t count_rows(Look& look, Dialect dialect, const LedgerFilter& filter, std::int64_t most) {
  Statement count(dialect, "SELECT count(*) FROM (SELECT 1 FROM {ledger} l");
  Where where(count);
  add_conditions(where, filter);
  count.add(" LIMIT ").bind(most).add(") AS counted");
  return number_in(count.query(look).at(0).at(0));
}

LedgerPage list_ledger(Store& store, const LedgerFilter& filter, std::optional<std::int64_t> below, int limit) {
  limit = std::clamp(limit, 1, most_rows_of_a_page);
  const auto look = store.look();
  LedgerPage page;
  page.rows = read_rows(*look, store.dialect(), filter, {.below = below, .limit = limit + 1});
  page.more = page.rows.size() > static_cast<std::size_t>(limit);
  if (page.more) page.rows.pop_back();
  return page;
}

std::int64_t count_ledger(Store& store, const LedgerFilter& filter, std::int64_t most) {
  const auto look = store.look();
  return count_rows(*look, store.dialect(), filter, most);
}

std::optional<LedgerCall> read_call(Store& store, std::int64_t number) {
  LedgerFilter one;
  one.numbers = {number};
  const auto look = store.look();
  const auto rows = read_rows(*look, store.dialect(), one, {});
  if (rows.empty()) return std::nullopt;
  return LedgerCall{rows.front(), read_cause(*look, store.dialect(), rows.front()),
                    read_attempts(*look, store.dialect(), number), read_audit(*look, store.dialect(), number)};
}

std::optional<std::string> read_call_body(Store& store, std::int64_t number) {
  const auto look = store.look();
  Statement select(store.dialect(), "SELECT body FROM {ledger} WHERE number = ");
  const Rows rows = select.bind(number).query(*look);
  if (rows.empty()) return std::nullopt;
  return bytes_in(rows[0][0]);
}

}  // namespace onceward::records
