#include "src/relay/trim.h"

#include <fmt/format.h>

#include "src/records/statement.h"

namespace onceward::relay {
namespace {

using records::number_in;
using records::Statement;

constexpr std::chrono::milliseconds between_trims{2'000};
constexpr int parts = 4;
constexpr std::int64_t worth_it = 8 << 20;  // bytes, those of large payloads included, which stand elsewhere

// With the lock nobody is writing to it; a row in it that the last tick of all slots does not see has yet to leave. Most often
// the youngest transaction tells that there is none, which takes no time; writers wait while the rows are looked through. A
// tick of another server sees anything (next_ticks).
void empty_part(Store& store, int part) {
  const auto unit = store.begin({});
  Transaction& transaction = unit->whole();
  transaction.execute(fmt::format("LOCK TABLE onceward.outbox_part_{} IN ACCESS EXCLUSIVE MODE NOWAIT", part));
  const Rows rows = transaction.query(fmt::format(
      "SELECT coalesce((SELECT max(tx) FROM onceward.outbox_part_{0}) >= pg_snapshot_xmin(t.snapshot), false) "
      "AND EXISTS (SELECT FROM onceward.outbox_part_{0} o WHERE o.tx >= pg_snapshot_xmin(t.snapshot) AND "
      "NOT pg_visible_in_snapshot(o.tx, t.snapshot)) FROM onceward.relay_tick t "
      "WHERE t.number = (SELECT min(tick) - 1 FROM onceward.relay_place) AND (t.maker = '3' OR t.maker::xid = t.xmin)",
      part));
  if (rows.empty() || std::get<bool>(rows[0][0])) return;
  transaction.execute(fmt::format("TRUNCATE onceward.outbox_part_{}", part));
  unit->commit();
}

}  // namespace

void empty_parts(Store& store) {
  if (store.dialect() != Dialect::postgres) return;
  for (int part = 0; part < parts; ++part) {
    const Rows size =
        store.look()->query(fmt::format("SELECT pg_table_size('onceward.outbox_part_{}') >= $1", part), worth_it);
    if (!std::get<bool>(size.at(0).at(0))) continue;
    try {
      empty_part(store, part);
    } catch (const Fault& fault) {
      if (fault.poisons() != Poisons::transaction) throw;  // somebody uses it
    }
  }
}

void remove_what_left(UnitOfWork& unit, std::int64_t most) {
  unit.whole().execute(
      "DELETE FROM onceward_outbox WHERE position IN (SELECT position FROM onceward_outbox WHERE position <= "
      "(SELECT min(position) FROM onceward_relay_place) ORDER BY position LIMIT $1)",
      most);
}

std::int64_t lowest_tick(Store& store) {
  return number_in(Statement(store.dialect(), "SELECT min(tick) FROM {relay_place}").query(*store.look()).at(0).at(0));
}

void forget_moves(Store& store) {
  const auto unit = store.begin({});
  Statement(store.dialect(), "DELETE FROM {relay_move} WHERE number < (SELECT min(number) FROM {relay_place})")
      .run(unit->whole());
  unit->commit();
}

// More rows than are read meanwhile, so that what a slot has kept for the others goes too.
Trim::Trim(Store& store, Pages& pages, int page) : store_(store), pages_(pages), most_(2 * std::int64_t{page}) {}

void Trim::add_to(UnitOfWork& unit) const {
  if (store_.dialect() == Dialect::sqlite) remove_what_left(unit, most_);
}

void Trim::now_and_then() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + between_trims;
  forget_moves(store_);
  if (store_.dialect() == Dialect::sqlite) {
    const auto unit = store_.begin({});
    add_to(*unit);
    unit->commit();
    return;
  }
  pages_.passed(lowest_tick(store_));
  empty_parts(store_);
}

}  // namespace onceward::relay
