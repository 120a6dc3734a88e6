#include "src/relay/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "src/common/limits.h"
#include "src/common/sha256.h"
#include "src/records/statement.h"

namespace onceward::relay {
namespace {

using records::number_in;
using records::Statement;
using records::text_in;

constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_reach = 1 << 18;

// Stays as it is for ever: places are kept by slot.
constexpr std::string_view slot_of_row = "(hashtextextended(CASE o.key WHEN '' THEN o.id ELSE o.key END, 0) & 15)";

Statement& add_rows(Statement& select) {
  return select.add("SELECT o.*, ").add(slot_of_row).add(" AS slot FROM {outbox} o");
}
// Of these slots, and seen at that moment. What is the same for all rows stands in a sub-select, to be read once.
void add_seen(Statement& select, const std::string& snapshot, std::span<const int> slots) {
  select.add(" AND pg_visible_in_snapshot(o.tx, (SELECT ").bind(snapshot).add("::pg_snapshot))");
  if (slots.size() == slot_count) return;
  select.add(" AND ").add(slot_of_row).bind_any(slots);
}

// Ends a page of sub-select `page` where its rows are large: with the row that passes the bound.
void add_page(Statement& select, std::string_view columns) {
  select.add("SELECT ").add(columns).add(
      " FROM (SELECT *, sum(octet_length(payload)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) ");
  select.add("- octet_length(payload) AS bytes_before FROM (");
}
void end_page(Statement& select, int most) {
  select.add(" ORDER BY position LIMIT ").bind(std::int64_t{most});
  select.add(fmt::format(") page) o WHERE o.bytes_before < {} ORDER BY o.position", most_bytes_together));
}

bool is_full(std::span<const OutboxRow> rows, int most) {
  std::size_t bytes = 0;
  for (const OutboxRow& row : rows) bytes += row.payload_bytes;
  return rows.size() >= static_cast<std::size_t>(most) || bytes >= most_bytes_together;
}

}  // namespace

int slot_of(std::string_view key, std::string_view id) { return sha256(key.empty() ? id : key)[0] & (slot_count - 1); }

Page Pages::read(std::span<const int> slots, const Place& from, const std::optional<Place>& until, int most) {
  return store_.dialect() == Dialect::postgres ? read_postgres(slots, from, until, most)
                                               : read_sqlite(slots, from, until, most);
}

Page Pages::read_sqlite(std::span<const int> slots, Place from, const std::optional<Place>& until, int most) {
  Statement select(Dialect::sqlite);
  add_page(select, row_columns);
  select.add("SELECT * FROM {outbox} WHERE position > ").bind(from.position);
  if (until) select.add(" AND position <= ").bind(until->position);
  end_page(select, most);
  Page page{from, {}, {}};
  for (Row& row : select.query(*store_.look())) {
    OutboxRow read = outbox_row(std::move(row), producer_);
    read.slot = slot_of(read.key, read.id);
    page.to.position = read.position;
    if (std::ranges::find(slots, read.slot) != slots.end()) page.rows.push_back(std::move(read));
  }
  return page;
}

Page Pages::read_postgres(std::span<const int> slots, Place from, const std::optional<Place>& until, int most) {
  if (!have_tick(from.tick)) return {from, {}, {}};
  if (!ticks_.contains(from.tick - 1)) {
    throw Fault(FaultCode::lost_race, Poisons::transaction, "the relay's ticks were made anew");
  }
  const std::int64_t end = until && until->tick == from.tick ? until->position : no_end;
  const std::int64_t edge = std::max(ticks_.at(from.tick - 1).low, from.position) + reach(slots, most);
  const bool to_the_end = edge >= std::min(end, ticks_.at(from.tick).high);
  Page page{from,
            rows_of(from.tick, slots, from.position, to_the_end ? end : edge, most),
            {from.tick, ticks_.at(from.tick).token}};
  const bool full = is_full(page.rows, most);
  if (full) {
    page.to.position = page.rows.back().position;
  } else if (!to_the_end) {
    page.to.position = edge;
  } else {
    page.to = end == no_end ? Place{from.tick + 1, 0} : *until;
  }
  if (full || !to_the_end) learn(page.rows.size(), full, most);
  return page;
}

// Of a long tick only as many positions are asked for as a page may need. Asked for all of them, PostgreSQL takes them for few
// while it has no statistics, and reads and sorts the whole rest for each page.
std::int64_t Pages::reach(std::span<const int> slots, int most) const {
  return std::min(std::int64_t{most} * stretch_ * slot_count / static_cast<std::int64_t>(slots.size()), most_reach);
}

// Positions may be far apart: drawn by those who rolled back or have not committed yet.
void Pages::learn(std::size_t rows, bool full, int most) {
  if (full) {
    stretch_ = std::max<std::int64_t>(stretch_ / 2, 1);
  } else if (rows < static_cast<std::size_t>(most) / 2) {
    stretch_ = std::min(stretch_ * 2, most_reach);
  }
}

std::vector<OutboxRow> Pages::rows_of(std::int64_t number, std::span<const int> slots, std::int64_t after,
                                      std::int64_t until, int most) {
  const Tick& before = ticks_.at(number - 1);
  const Tick& now = ticks_.at(number);
  Statement select(Dialect::postgres);
  add_page(select, fmt::format("{}, o.slot", row_columns));
  add_rows(select.add(before.has_open ? "(" : "")).add(" WHERE o.position > ").bind(std::max(before.low, after));
  select.add(" AND o.position <= ").bind(std::min(now.high, until)).add(" AND o.tx >= (SELECT greatest(");
  select.bind(before.maker).add("::xid8, pg_snapshot_xmax(").bind(before.snapshot).add("::pg_snapshot)))");
  add_seen(select, now.snapshot, slots);
  if (before.has_open) {
    select.add(" ORDER BY o.position LIMIT ").bind(std::int64_t{most});
    select.add(") UNION ALL (SELECT late.* FROM onceward.open_at(").bind(before.snapshot).add("::pg_snapshot, ");
    select.bind(before.maker).add("::xid8) AS open (tx), LATERAL (");
    add_rows(select).add(" WHERE o.tx = open.tx AND o.position > ").bind(after);
    select.add(" AND o.position <= ").bind(until);
    add_seen(select, now.snapshot, slots);
    select.add(" ORDER BY o.position LIMIT ").bind(std::int64_t{most}).add(") late)");
  }
  end_page(select, most);
  std::vector<OutboxRow> rows;
  for (Row& row : select.query(*store_.look())) {
    const int slot = static_cast<int>(number_in(row[row_width]));
    OutboxRow& read = rows.emplace_back(outbox_row(std::move(row), producer_));
    read.slot = slot;
    read.tick = number;
  }
  return rows;
}

// Makes it where something has come since the last one. It is committed before anything of it is read.
bool Pages::have_tick(std::int64_t number) {
  if (!ticks_.contains(number - 1)) load_ticks("SELECT * FROM onceward.relay_tick WHERE number > $1", number - 2);
  if (!ticks_.contains(number)) load_ticks("SELECT * FROM onceward.next_ticks($1)", number - 1);
  return ticks_.contains(number);
}

void Pages::load_ticks(std::string_view select, std::int64_t after) {
  const auto unit = store_.begin({});
  const Rows rows =
      unit->whole().query(fmt::format("SELECT number, snapshot::text, maker::text, token::text, low, high, "
                                      "EXISTS (SELECT FROM onceward.open_at(snapshot, maker)) FROM ({}) AS ticks",
                                      select),
                          after);
  if (unit->commit() != Commit::committed) {
    throw Fault(FaultCode::store_unavailable, Poisons::connection, "the relay's tick was not committed: trying again");
  }
  for (const Row& row : rows) {
    ticks_[number_in(row[0])] = {text_in(row[1]),   text_in(row[2]),   text_in(row[3]),
                                 number_in(row[4]), number_in(row[5]), std::get<bool>(row[6])};
  }
}

void Pages::passed(std::int64_t tick) {
  ticks_.erase(ticks_.begin(), ticks_.lower_bound(tick - 1));
  const auto unit = store_.begin({});
  Statement(Dialect::postgres, "DELETE FROM {relay_tick} WHERE number < ").bind(tick - 1).run(unit->whole());
  unit->commit();
}

}  // namespace onceward::relay
