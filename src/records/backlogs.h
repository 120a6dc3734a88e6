// How much waits in the store, for those who watch it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "onceward/port/store.h"

namespace onceward::records {

struct Backlog {
  std::int64_t waiting = 0;  // for their next attempt, or in it
  // Since it was received, or parked where it was never claimed. Of the ten thousand that are due first; 0: none waits.
  std::chrono::microseconds oldest_waiting{0};
  // Since it was taken for an attempt that has not ended. One that is much older than the time bound lost its worker.
  std::chrono::microseconds oldest_claimed{0};
  std::int64_t parked = 0;  // in quarantine, for a person
};

// By the name of the consumer, all that are enrolled. Costs as much as waits, whatever the inbox holds. Throws Fault.
std::map<std::string, Backlog> read_backlogs(Store& store);

inline constexpr std::int64_t most_counted = 100'001;

struct OutboxBacklog {
  std::int64_t pending = 0;                     // not published; most_counted: as many or more
  std::chrono::microseconds oldest_pending{0};  // of the thousand in front, since it was staged; 0: none
  std::int64_t quarantined = 0;                 // for a person; most_counted: as many or more
};

// Of the whole store. Costs little however many are pending. Throws Fault.
OutboxBacklog read_outbox_backlog(Store& store);

struct LedgerBacklog {
  std::int64_t pending = 0;  // planned, approved or under way; most_counted: as many or more
  // Since it was asked for, or since its time came, of the hundred thousand that are due first; 0: none.
  std::chrono::microseconds oldest_pending{0};
  std::int64_t unknown = 0;  // may have been done; most_counted: as many or more
  std::int64_t waiting = 0;  // for approval; most_counted: as many or more
};

// By the name of the endpoint, those that have any. Costs as much as is open, and of each endpoint a hundred thousand at most,
// whatever the ledger holds. Throws Fault.
std::map<std::string, LedgerBacklog> read_ledger_backlog(Store& store);

}  // namespace onceward::records
