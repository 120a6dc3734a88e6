#include "src/relay/leases.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "src/envelope/derived_id.h"
#include "src/records/statement.h"

namespace onceward::relay {
namespace {

using records::number_in;
using records::Statement;

// In nanoseconds, by a clock that goes on while the machine is suspended.
std::int64_t time_awake_or_not() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The end of a lease that begins now.
Statement& add_end(Statement& statement, std::chrono::milliseconds lease, Dialect dialect) {
  statement.add("{now} + ").bind(std::int64_t{lease.count()});
  return statement.add(dialect == Dialect::postgres ? " * interval '1 millisecond'" : " * 1000");
}

}  // namespace

Leases::Leases(Store& store, std::string name, std::chrono::milliseconds lease)
    : store_(store), name_(std::move(name)), owner_(std::string(fresh_id())), lease_(lease) {}

bool Leases::held() const { return time_awake_or_not() < held_until_.load(std::memory_order_relaxed); }

template <class Work>
void Leases::in_unit(Work&& work) {
  const Clock::time_point began = Clock::now();
  const std::int64_t until = time_awake_or_not() + std::chrono::nanoseconds(lease_).count();
  const auto unit = store_.begin({});
  Held held = work(*unit);
  if (unit->commit() != Commit::committed) {
    throw Fault(FaultCode::store_unavailable, Poisons::connection, "the relay's leases were not committed");
  }
  // Something of what is no longer ours may be about to be sent: nothing is, until whoever sends has begun anew and we renew
  // again, which is due at once.
  const bool fewer = held.places.size() < places_.size();
  places_ = std::move(held.places);
  unbalanced_ = held.unbalanced;
  renewed_at_ = fewer ? Clock::time_point() : began;
  held_until_ = fewer ? 0 : until;
}

// Those of a relay that has fallen silent are free, whosever they were.
std::map<int, Leases::Slot> Leases::read_slots(UnitOfWork& unit) {
  Statement select(store_.dialect(), "SELECT s.slot, p.tick, p.position, CASE WHEN s.owner = ");
  select.bind(owner_).add(" THEN 1 ELSE 0 END, CASE WHEN m.owner IS NULL THEN 1 ELSE 0 END FROM {relay_slot} s ");
  select.add("JOIN {relay_place} p ON p.slot = s.slot ");
  select.add("LEFT JOIN {relay_member} m ON m.owner = s.owner AND m.seen_until > {now} ORDER BY s.slot");
  std::map<int, Slot> slots;
  for (const Row& row : select.query(unit.whole())) {
    const bool ours = number_in(row[3]) == 1;
    slots[static_cast<int>(number_in(row[0]))] = {ours, !ours && number_in(row[4]) == 1,
                                                  Place{number_in(row[1]), number_in(row[2])}};
  }
  return slots;
}

void Leases::say_we_live(UnitOfWork& unit) {
  Statement insert(store_.dialect(), "INSERT INTO {relay_member} (owner, name, seen_until) VALUES (");
  insert.bind(owner_).add(", ").bind(name_).add(", ");
  add_end(insert, lease_, store_.dialect()).add(") ON CONFLICT (owner) DO UPDATE SET seen_until = excluded.seen_until");
  insert.run(unit.whole());
}

// How many slots each of the relays that live should have; those who have most should not have more.
std::size_t Leases::share(UnitOfWork& unit) {
  Statement(store_.dialect(), "DELETE FROM {relay_member} WHERE seen_until <= {now}").run(unit.whole());
  const Rows rows = Statement(store_.dialect(), "SELECT count(*) FROM {relay_member}").query(unit.whole());
  const auto members = static_cast<std::size_t>(std::max<std::int64_t>(1, number_in(rows[0][0])));
  return (slot_count + members - 1) / members;
}

void Leases::give(UnitOfWork& unit, const std::vector<int>& slots, std::string_view owner) {
  if (slots.empty()) return;
  Statement update(store_.dialect(), "UPDATE {relay_slot} SET owner = ");
  update.bind(owner).add(" WHERE slot ").bind_any(slots).run(unit.whole());
}

void Leases::renew() {
  in_unit([&](UnitOfWork& unit) {
    say_we_live(unit);
    const std::size_t most = share(unit);
    std::map<int, Place> places;
    bool free = false, lost = false;
    for (const auto& [number, slot] : read_slots(unit)) {
      free |= slot.free;
      if (!slot.ours) continue;
      const auto ours = places_.find(number);
      if (ours == places_.end() || slot.place < ours->second) {
        lost = true;
      } else {
        places[number] = ours->second;
      }
    }
    const bool unbalanced = lost || places.size() > most || (free && places.size() < most);
    return Held{std::move(places), unbalanced};
  });
}

void Leases::take_share() {
  in_unit([&](UnitOfWork& unit) {
    say_we_live(unit);
    const std::size_t most = share(unit);
    std::map<int, Place> places;
    std::vector<int> taken, surplus;
    Statement(store_.dialect(), "SELECT slot FROM {relay_slot} ORDER BY slot {lock}").query(unit.whole());
    const std::map<int, Slot> slots = read_slots(unit);
    const auto sort_in = [&](bool Slot::* which) {
      for (const auto& [number, slot] : slots) {
        if (!(slot.*which)) continue;
        if (places.size() < most) {
          places[number] = slot.place;
          if (slot.free) taken.push_back(number);
        } else if (slot.ours) {
          surplus.push_back(number);
        }
      }
    };
    sort_in(&Slot::ours);
    sort_in(&Slot::free);
    give(unit, taken, owner_);
    give(unit, surplus, {});
    return Held{std::move(places)};
  });
}

void Leases::give_up() {
  in_unit([&](UnitOfWork& unit) {
    Statement(store_.dialect(), "UPDATE {relay_slot} SET owner = '' WHERE owner = ").bind(owner_).run(unit.whole());
    Statement(store_.dialect(), "DELETE FROM {relay_member} WHERE owner = ").bind(owner_).run(unit.whole());
    return Held();
  });
  held_until_ = 0;
}

bool Leases::move(UnitOfWork& unit, std::span<const int> slots, const Place& place, const TickName& tick) const {
  if (!hold(unit, slots)) return false;
  const Place& from = places_.at(slots.front());
  std::int64_t bits = 0;
  for (const int slot : slots) bits |= std::int64_t{1} << slot;
  Statement insert(store_.dialect(), "INSERT INTO {relay_move} (slots, tick, position) SELECT ");
  insert.bind(bits).add(", ").bind(place.tick).add(", ").bind(place.position);
  insert.add(" WHERE NOT EXISTS (SELECT 1 FROM {relay_place} p WHERE p.slot ").bind_any(slots);
  insert.add(" AND NOT (p.tick = ").bind(from.tick).add(" AND p.position = ").bind(from.position);
  insert.add(" OR p.tick = ").bind(place.tick).add(" AND p.position = ").bind(place.position).add("))");
  if (store_.dialect() == Dialect::postgres) {
    insert.add(" AND EXISTS (SELECT 1 FROM {relay_tick} t WHERE t.number = ").bind(tick.number);
    insert.add(" AND t.token = ").bind(tick.token).add("::uuid)");
  }
  return insert.run(unit.whole()) == 1;
}

// Ours in the store, and not here: those whose places it has lost.
bool Leases::know(std::span<const int> slots) const {
  return std::ranges::all_of(slots, [&](int slot) { return places_.contains(slot); });
}

bool Leases::hold(UnitOfWork& unit, std::span<const int> slots) const {
  if (!know(slots)) return false;
  Statement select(store_.dialect(), "SELECT slot FROM {relay_slot} WHERE owner = ");
  select.bind(owner_).add(" AND slot ").bind_any(slots).add(" ORDER BY slot {lock}");
  return select.query(unit.whole()).size() == slots.size();
}

void Leases::moved(std::span<const int> slots, const Place& place) {
  for (const int slot : slots) places_.at(slot) = place;
}

}  // namespace onceward::relay
