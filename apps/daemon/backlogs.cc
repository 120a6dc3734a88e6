#include "apps/daemon/backlogs.h"

#include <chrono>

#include "src/records/backlogs.h"

namespace onceward::daemon {

Backlogs read_backlogs(Store& store) {
  Backlogs backlogs;
  for (const auto& [consumer, backlog] : records::read_backlogs(store)) {
    backlogs[consumer] = {
        static_cast<double>(backlog.waiting), std::chrono::duration<double>(backlog.oldest_waiting).count(),
        std::chrono::duration<double>(backlog.oldest_claimed).count(), static_cast<double>(backlog.parked)};
  }
  return backlogs;
}

}  // namespace onceward::daemon
