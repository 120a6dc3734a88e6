#include "src/records/outbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/records/inbox.h"
#include "src/records/outbox_rows.h"

namespace onceward::records {
namespace {

constexpr std::array<std::string_view, 5> names{"pending", "waiting", "behind", "quarantined", "discarded"};
constexpr std::string_view stored_as_aside = "aside";  // what people call quarantined

constexpr std::string_view columns =
    "o.position, {micros o.staged_at}, o.id, o.type, o.key, o.tenant, o.aggregate_type, o.aggregate_id, "
    "o.aggregate_version, o.event_version, o.correlation_id, o.causation_id, o.trace_parent, o.content_type, o.headers, "
    "c.name, o.cause, length(o.payload)";
constexpr std::size_t column_count = 18;
constexpr std::string_view columns_of_waiting =
    ", o.state, o.attempts, {micros o.due_at}, o.reason, o.detail, {micros o.entered_at}";
constexpr std::string_view consumer_join = " LEFT JOIN {consumer} c ON c.number = o.consumer";

std::string_view stored_name(OutboxState state) {
  return state == OutboxState::quarantined ? stored_as_aside : name(state);
}
OutboxState state_stored_as(std::string_view stored) {
  if (stored == stored_as_aside) return OutboxState::quarantined;
  return outbox_state_named(stored).value_or(OutboxState::waiting);
}

OutboxRow outbox_row(const Row& row) {
  OutboxRow read;
  read.number = number_in(row[0]);
  read.staged_at = time_in(row[1]);
  read.id = text_in(row[2]);
  read.type = text_in(row[3]);
  read.key = text_in(row[4]);
  read.tenant = text_in(row[5]);
  read.aggregate_type = text_in(row[6]);
  read.aggregate_id = text_in(row[7]);
  read.aggregate_version = unless_null(row[8], number_in);
  read.event_version = unless_null(row[9], number_in);
  read.correlation_id = text_in(row[10]);
  read.causation_id = text_in(row[11]);
  read.trace_parent = text_in(row[12]);
  read.content_type = text_in(row[13]);
  read.headers = text_in(row[14]);
  read.consumer = text_in(row[15]);
  read.cause = unless_null(row[16], key_in);
  read.payload_bytes = number_in(row[17]);
  if (row.size() == column_count) return read;
  const Datum* const more = &row[column_count];
  read.state = state_stored_as(text_in(more[0]));
  read.attempts = number_in(more[1]);
  if (read.state == OutboxState::waiting) read.due_at = time_in(more[2]);
  read.reason = text_in(more[3]);
  read.detail = text_in(more[4]);
  read.entered_at = time_in(more[5]);
  return read;
}

// Both stores count the characters of a text, not its bytes.
std::ptrdiff_t characters_of(std::string_view utf8) {
  return std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

void add_conditions(Where& where, const OutboxFilter& filter) {
  if (!filter.numbers.empty()) where.add("o.position ").bind_any(filter.numbers);
  where.with(fmt::format("substr(o.type, 1, {}) = ", characters_of(filter.type)), filter.type);
  where.with("o.key = ", filter.key);
  where.with("o.id = ", filter.id);
  where.with("o.staged_at >= ", filter.since);
  where.with("o.staged_at < ", filter.until);
}

bool asks_for_pending(const OutboxFilter& filter) {
  return filter.states.empty() || std::ranges::find(filter.states, OutboxState::pending) != filter.states.end();
}
bool asks_for_waiting(const OutboxFilter& filter) {
  const auto other = [](OutboxState state) { return state != OutboxState::pending; };
  return filter.states.empty() || std::ranges::any_of(filter.states, other);
}

// One of the queries that together find what the filter asks for.
struct Side {
  std::string_view from;
  std::string condition{};  // of those that are pending

  bool waiting() const { return condition.empty(); }
  void add_to(Where& where, const OutboxFilter& filter) const {
    if (waiting()) return add_waiting_conditions(where, filter);
    add_conditions(where, filter);
    where.add(condition);
  }
};
std::vector<Side> sides_of(Look& look, Dialect dialect, const OutboxFilter& filter) {
  std::vector<Side> sides;
  if (asks_for_waiting(filter)) sides.push_back({waiting_outbox});
  if (!asks_for_pending(filter)) return sides;
  for (std::string& condition : pending_conditions(look, dialect))
    sides.push_back({pending_outbox, std::move(condition)});
  return sides;
}

constexpr std::string_view places =
    " FROM {relay_place} s JOIN {relay_tick} before ON before.number = s.tick - 1 LEFT JOIN {relay_tick} now ON now.number = "
    "s.tick";

// No row is pending up to there, but of transactions that were open at a tick (src/relay/pages.h).
std::int64_t lowest_pending(Look& look) {
  Statement select(Dialect::postgres, "SELECT min(CASE WHEN now.number IS NULL THEN before.low ELSE ");
  select.add("least(greatest(before.low, s.position), now.low) END)").add(places);
  return number_in(select.query(look).at(0).at(0));
}

// Those transactions.
std::vector<std::string> open_transactions(Look& look) {
  Statement select(Dialect::postgres, "SELECT DISTINCT open.tx::text FROM (SELECT before.number AS a, now.number AS b");
  select.add(places).add(") AS at JOIN {relay_tick} t ON t.number IN (at.a, at.b), ");
  select.add("LATERAL onceward.open_at(t.snapshot, t.maker) AS open (tx)");
  std::vector<std::string> open;
  for (const Row& row : select.query(look)) open.push_back(fmt::format("'{}'", text_in(row[0])));
  return open;
}

}  // namespace

std::string_view name(OutboxState state) { return names[static_cast<std::size_t>(state)]; }

std::optional<OutboxState> outbox_state_named(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<OutboxState>(found - names.begin());
}

std::vector<std::string> pending_conditions(Look& look, Dialect dialect) {
  const std::string alone = "NOT EXISTS (SELECT 1 FROM {outbox_waiting} w WHERE w.position = o.position)";
  if (dialect == Dialect::sqlite) return {alone};
  const std::int64_t low = lowest_pending(look);
  std::vector<std::string> conditions{fmt::format("o.position > {} AND {}", low, alone)};
  if (const auto open = open_transactions(look); !open.empty()) {
    conditions.push_back(fmt::format("o.position <= {} AND o.tx IN ({}) AND {}", low, fmt::join(open, ", "), alone));
  }
  return conditions;
}

void add_waiting_conditions(Where& where, const OutboxFilter& filter) {
  add_conditions(where, filter);
  if (filter.states.empty()) return;
  std::vector<std::string> states;
  for (const OutboxState state : filter.states) states.push_back(fmt::format("'{}'", stored_name(state)));
  where.add(fmt::format("o.state IN ({})", fmt::join(states, ", ")));
}

std::vector<OutboxRow> read_rows(Look& look, Dialect dialect, const OutboxFilter& filter, const RowOrder& order) {
  std::vector<OutboxRow> rows;
  for (const Side& side : sides_of(look, dialect, filter)) {
    Statement select(dialect, "SELECT ");
    select.add(columns).add(side.waiting() ? columns_of_waiting : "").add(" FROM ").add(side.from);
    select.add(consumer_join);
    Where where(select);
    side.add_to(where, filter);
    add_order(where, select, "o.position", order);
    for (const Row& row : select.query(look)) rows.push_back(outbox_row(row));
  }
  std::ranges::sort(rows, {}, [&](const OutboxRow& row) { return order.newest_first ? -row.number : row.number; });
  if (rows.size() > static_cast<std::size_t>(order.limit)) rows.resize(static_cast<std::size_t>(order.limit));
  return rows;
}

std::int64_t count_rows(Look& look, Dialect dialect, const OutboxFilter& filter, std::int64_t most) {
  std::int64_t sum = 0;
  for (const Side& side : sides_of(look, dialect, filter)) {
    Statement count(dialect, "SELECT count(*) FROM (SELECT 1 FROM ");
    count.add(side.from);
    Where where(count);
    side.add_to(where, filter);
    count.add(" LIMIT ").bind(most).add(") AS counted");
    sum += number_in(count.query(look).at(0).at(0));
  }
  return sum;
}

OutboxPage list_outbox(Store& store, const OutboxFilter& filter, std::optional<std::int64_t> below, int limit) {
  limit = std::clamp(limit, 1, most_rows_of_a_page);
  const auto look = store.look();
  OutboxPage page;
  page.rows = read_rows(*look, store.dialect(), filter, {.below = below, .limit = limit + 1});
  page.more = page.rows.size() > static_cast<std::size_t>(limit);
  if (page.more) page.rows.pop_back();
  return page;
}

std::int64_t count_outbox(Store& store, const OutboxFilter& filter, std::int64_t most) {
  const auto look = store.look();
  return count_rows(*look, store.dialect(), filter, most);
}

std::optional<OutboxRow> read_outgoing(Store& store, std::int64_t number) {
  OutboxFilter one;
  one.numbers = {number};
  const auto look = store.look();
  const auto rows = read_rows(*look, store.dialect(), one, {});
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::optional<std::string> read_outgoing_payload(Store& store, std::int64_t number) {
  const auto look = store.look();
  for (const std::string_view from : {waiting_outbox, pending_outbox}) {
    Statement select(store.dialect(), "SELECT o.payload FROM ");
    select.add(from).add(" WHERE o.position = ").bind(number);
    if (const Rows rows = select.query(*look); !rows.empty()) return bytes_in(rows[0][0]);
  }
  return std::nullopt;
}

}  // namespace onceward::records
