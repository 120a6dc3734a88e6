// What waits in the store, as the metrics tell it.
#pragma once

#include "apps/daemon/metrics.h"
#include "onceward/port/store.h"

namespace onceward::daemon {

// By consumer. Cheap however large the inbox is. Throws Fault.
Backlogs read_backlogs(Store& store);

}  // namespace onceward::daemon
