// Gives back the room of rows that have left.
#pragma once

#include <chrono>

#include "src/relay/pages.h"

namespace onceward::relay {

// Empties those parts of the outbox in which every row has left, and that nobody writes to now: whole, so that nothing is
// left for vacuum, whoever holds an old snapshot. Nobody waits for it, and it waits for nobody. Nothing to do on SQLite.
void empty_parts(Store& store);

// Part of a unit, on SQLite: deletes rows that have left, up to `most`.
void remove_what_left(UnitOfWork& unit, std::int64_t most);

// Of every slot only the last move is kept.
void forget_moves(Store& store);

// The lowest tick that a slot stands in.
std::int64_t lowest_tick(Store& store);

// All of it, while a relay works.
class Trim {
 public:
  // `page` rows are read at a time.
  Trim(Store& store, Pages& pages, int page);

  // Every two seconds.
  void now_and_then();
  // Part of the unit in which a page is noted.
  void add_to(UnitOfWork& unit) const;

 private:
  Store& store_;
  Pages& pages_;
  const std::int64_t most_;  // rows that are deleted together
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace onceward::relay
