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
  for (const auto& [endpoint, open] : records::read_ledger_backlog(store)) {
    backlogs.ledger[endpoint] = {static_cast<double>(open.pending), seconds(open.oldest_pending),
                                 static_cast<double>(open.unknown), static_cast<double>(open.waiting)};
  }
  backlogs.ledger_known = true;
  return backlogs;
}

}  // namespace onceward::daemon
