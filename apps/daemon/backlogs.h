// What waits in the store, as the metrics tell it.
#pragma once

#include "apps/daemon/metrics.h"
#include "onceward/port/store.h"

namespace onceward::daemon {

// Cheap however large inbox and outbox are. Throws Fault.
Backlogs read_backlogs(Store& store);

}  // namespace onceward::daemon
