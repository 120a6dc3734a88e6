// What can be said to the source, collected over a batch.
#pragma once

#include <vector>

#include "onceward/port/source.h"
#include "src/worker/round.h"

namespace onceward {

using Settlements = std::vector<Settlement>;

// A kept message came from our own store: nobody waits for a word.
inline void settle(const Item& item, Settle how, Settlements& settlements) {
  if (item.tag) settlements.push_back({*item.tag, how});
}

}  // namespace onceward
