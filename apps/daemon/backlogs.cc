#include "apps/daemon/backlogs.h"

#include <chrono>

#include "src/records/backlogs.h"

namespace onceward::daemon {
namespace {

double seconds(std::chrono::microseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Backlogs read_backlogs(Store& store) {
  Backlogs backlogs;
  for (const auto& [consumer, backlog] : records::read_backlogs(store)) {
    backlogs.consumers[consumer] = {static_cast<double>(backlog.waiting), seconds(backlog.oldest_waiting),
                                    seconds(backlog.oldest_claimed), static_cast<double>(backlog.parked)};
  }
  const records::OutboxBacklog outbox = records::read_outbox_backlog(store);
  backlogs.outbox = {static_cast<double>(outbox.pending), seconds(outbox.oldest_pending),
                     static_cast<double>(outbox.quarantined)};
  return backlogs;
}

}  // namespace onceward::daemon
