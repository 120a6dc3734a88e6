// Which rows that were read go now, and where to, and which have to wait: for want of a route, because their target is away,
// or behind one of their key that waits.
#pragma once

#include <vector>

#include "src/relay/departures.h"
#include "src/relay/routes.h"
#include "src/relay/stopped_keys.h"
#include "src/relay/targets.h"

namespace onceward::relay {

class Sorting {
 public:
  // All must outlive this. Throws std::invalid_argument for routes that lead nowhere.
  Sorting(const RelayOptions& options, Departures& departures, StoppedKeys& stopped);

  // All rows become part of the departure that was begun last. `again`: they have waited in the store.
  Targets::Parcels sort(std::vector<OutboxRow> rows, bool again, const Targets::Names& away);

 private:
  const RelayOptions& options_;
  Departures& departures_;
  StoppedKeys& stopped_;
  Routes routes_;
};

}  // namespace onceward::relay
