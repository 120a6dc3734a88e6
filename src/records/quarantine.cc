#include "src/records/quarantine.h"

#include <algorithm>
#include <array>

#include "src/records/quarantine_rows.h"

namespace onceward::records {
namespace {

constexpr std::array<std::string_view, 4> state_names{"parked", "retrying", "resolved", "discarded"};

QuarantineRow quarantine_row(const Row& row) {
  QuarantineRow read;
  read.number = number_in(row[0]);
  read.parked_at = time_in(row[1]);
  read.consumer = text_in(row[2]);
  read.reason = text_in(row[3]);
  read.detail = text_in(row[4]);
  read.state = quarantine_state_named(text_in(row[5])).value_or(QuarantineState::parked);
  read.tenant = text_in(row[6]);
  read.producer = text_in(row[7]);
  read.id = text_in(row[8]);
  read.attempts = number_in(row[9]);
  read.key = unless_null(row[10], key_in);
  read.retry_at = unless_null(row[11], time_in);
  read.payload_bytes = number_in(row[12]);
  return read;
}

}  // namespace

std::string_view name(QuarantineState state) { return state_names[static_cast<std::size_t>(state)]; }

std::optional<QuarantineState> quarantine_state_named(std::string_view name) {
  const auto found = std::ranges::find(state_names, name);
  if (found == state_names.end()) return std::nullopt;
  return static_cast<QuarantineState>(found - state_names.begin());
}

void add_conditions(Where& where, const QuarantineFilter& filter) {
  if (!filter.numbers.empty()) where.add("q.number ").bind_any(filter.numbers);
  where.of_consumer("q.consumer", filter.consumer);
  where.with("q.reason = ", filter.reason);
  if (filter.state) where.add("q.state = ").bind(name(*filter.state));
  where.with("q.tenant = ", filter.tenant);
  where.with("q.producer = ", filter.producer);
  where.with("q.id = ", filter.id);
  where.with("q.parked_at >= ", filter.since);
  where.with("q.parked_at < ", filter.until);
}

std::vector<QuarantineRow> read_rows(Look& look, Dialect dialect, const QuarantineFilter& filter,
                                     const RowOrder& order) {
  Statement select(dialect,
                   "SELECT q.number, {micros q.parked_at}, c.name, q.reason, q.detail, q.state, q.tenant, q.producer, "
                   "q.id, q.attempts, q.key, {micros q.retry_at}, length(q.payload) FROM {quarantine} q "
                   "LEFT JOIN {consumer} c ON c.number = q.consumer");
  Where where(select);
  add_conditions(where, filter);
  add_order(where, select, "q.number", order);
  std::vector<QuarantineRow> rows;
  for (const Row& row : select.query(look)) rows.push_back(quarantine_row(row));
  return rows;
}

QuarantinePage list_quarantine(Store& store, const QuarantineFilter& filter, std::optional<std::int64_t> below,
                               int limit) {
  limit = std::clamp(limit, 1, most_rows_of_a_page);
  const auto look = store.look();
  QuarantinePage page;
  page.rows = read_rows(*look, store.dialect(), filter, {.below = below, .limit = limit + 1});
  page.more = page.rows.size() > static_cast<std::size_t>(limit);
  if (page.more) page.rows.pop_back();
  return page;
}

std::int64_t count_quarantine(Store& store, const QuarantineFilter& filter) {
  Statement count(store.dialect(), "SELECT count(*) FROM {quarantine} q");
  Where where(count);
  add_conditions(where, filter);
  const auto look = store.look();
  return number_in(count.query(*look).at(0).at(0));
}

std::optional<QuarantineRow> read_parked(Store& store, std::int64_t number) {
  QuarantineFilter one;
  one.numbers = {number};
  const auto look = store.look();
  const auto rows = read_rows(*look, store.dialect(), one, {});
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::optional<Body> read_parked_body(Store& store, std::int64_t number) {
  Statement select(store.dialect(), "SELECT envelope, payload FROM {quarantine} WHERE number = ");
  const auto look = store.look();
  const Rows rows = select.bind(number).query(*look);
  if (rows.empty()) return std::nullopt;
  return Body{text_in(rows[0][0]), bytes_in(rows[0][1])};
}

}  // namespace onceward::records
