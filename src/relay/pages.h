// Finds every committed row of the outbox, once, in an order that a repeat finds again.
//
// On SQLite there is one writer at a time, so positions are drawn in the order of the commits and the order is that of
// positions. On PostgreSQL a row with a lower position may be committed after one with a higher, so positions alone would
// skip it. There, ticks are written down before anything between them is read: a tick is a moment, and holds what could be
// seen then (a snapshot). The rows of tick n are those that are seen by tick n and were not by tick n-1, ordered by
// position. They are found without reading any others again, however long a writer stays open:
//   - written by transactions that had their number, and no end, at tick n-1: by that number, one by one. They are those
//     that the snapshot calls in progress, and those from its upper end to the number of the transaction that made the
//     tick: the upper end is only the last one that had ended, and one. (onceward.open_at)
//   - written by later transactions: by position, from the highest one that had been drawn before the tick was made. A
//     row's transaction has its number before its position is drawn, since the column stands first.
// A transaction that began when another had committed comes after it: in a later tick, or in the same one with higher
// positions. So do two that waited for each other at a lock, as those of one aggregate do, in the order of the lock.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onceward/port/store.h"
#include "src/relay/place.h"
#include "src/relay/row.h"

namespace onceward::relay {

struct Page {
  Place to;  // where its slots stand when all of it has left
  std::vector<OutboxRow> rows;
  TickName tick{};  // of all of them
};

class Pages {
 public:
  // `producer` is the logical producer of every message.
  Pages(Store& store, std::string producer) : store_(store), producer_(std::move(producer)) {}

  // Up to `most` rows of these slots after `from`, or fewer where they are large, and none after `until`. A page without
  // rows may still lead on; one that leads to `from` itself says that nothing has been committed since.
  Page read(std::span<const int> slots, const Place& from, const std::optional<Place>& until, int most);

  // The store may have lost some of what it said.
  void forget() { ticks_.clear(); }
  // Forgets ticks that every slot has passed, in the store too.
  void passed(std::int64_t tick);

 private:
  struct Tick {
    std::string snapshot, maker, token;
    std::int64_t low = 0, high = 0;
    bool has_open = false;  // whether some transaction had its number and no end
  };

  Page read_postgres(std::span<const int> slots, Place from, const std::optional<Place>& until, int most);
  std::int64_t reach(std::span<const int> slots, int most) const;
  void learn(std::size_t rows, bool full, int most);
  Page read_sqlite(std::span<const int> slots, Place from, const std::optional<Place>& until, int most);
  bool have_tick(std::int64_t number);
  void load_ticks(std::string_view select, std::int64_t after);
  std::vector<OutboxRow> rows_of(std::int64_t tick, std::span<const int> slots, std::int64_t after, std::int64_t until,
                                 int most);

  Store& store_;
  const std::string producer_;
  std::map<std::int64_t, Tick> ticks_;
  std::int64_t stretch_ = 1;  // how many positions there are for a row, about
};

// The slot of a row by the key that orders it, or its id where it has none; for stores that cannot say it themselves.
int slot_of(std::string_view key, std::string_view id);

}  // namespace onceward::relay
