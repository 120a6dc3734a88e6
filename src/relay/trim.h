// Gives back the room of rows that have left.
#pragma once

#include "onceward/port/store.h"

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

}  // namespace onceward::relay
