// How far the rows of the outbox have left. There is one order for all rows, the same for every relay and on each repeat:
// by tick, and inside a tick by position. A share of the keys, a slot, has its own place in it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace onceward::relay {

inline constexpr int slot_count = 16;

// All rows before tick `tick`, and those of it up to `position`, have left. On SQLite the tick is always 0.
struct Place {
  std::int64_t tick = 0;
  std::int64_t position = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// Which tick rows were read from. One that was lost in a failover and is made again has the same number and another token.
// On SQLite, where nothing is lost that was committed, there is none.
struct TickName {
  std::int64_t number = 0;
  std::string token{};
};

}  // namespace onceward::relay
