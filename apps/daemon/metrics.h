// What the daemon tells Prometheus. docs/reference/metrics.md maps each name to the one that the literature uses.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/daemon/dispatch_post.h"
#include "onceward/ingress.h"
#include "onceward/relay.h"
#include "onceward/worker.h"

namespace onceward::daemon {

// A consumer's name and what its workers counted.
using Tallies = std::map<std::string, const ConsumerTally*>;
// The same of the front door.
using IngressTallies = std::map<std::string, const IngressTally*>;

// What is asked of the store, now and then; negative: not known.
struct Backlog {
  double waiting = -1;  // messages that wait for their next attempt
  double oldest_waiting_seconds = -1;
  double oldest_claimed_seconds = -1;
  double quarantined = -1;  // messages that wait for a person
};
struct OutboxBacklog {
  double pending = -1;  // messages that have not been published
  double oldest_pending_seconds = -1;
  double quarantined = -1;  // messages that wait for a person
};
struct LedgerBacklog {
  double pending = 0;  // calls that are to be made, or are under way
  double oldest_pending_seconds = 0;
  double unknown = 0;  // calls that may have been made
  double waiting = 0;  // for approval
};
struct Backlogs {
  std::map<std::string, Backlog> consumers{};     // by their names
  OutboxBacklog outbox{};                         // of the store
  std::map<std::string, LedgerBacklog> ledger{};  // by the names of endpoints; those that are not there have none
  bool ledger_known = false;

  void clear() { *this = {}; }
};

// How calls that were staged met others that were there before them.
struct RepeatTally {
  DispatchTally::Count same{}, conflict{};
};
using RepeatTallies = std::map<std::string, RepeatTally, std::less<>>;  // by the names of endpoints

// What was done by others than workers.
struct OtherTallies {
  const RelayTally* relay = nullptr;  // none where this process does not relay
  std::vector<const DispatchPost*> dispatchers{};
  const RepeatTallies* repeats = nullptr;  // none where nothing is called
  IngressTallies ingress{};
};

// In the text format of Prometheus.
std::string metrics_text(const Tallies& tallies, const Backlogs& backlogs, const OtherTallies& others = {});

}  // namespace onceward::daemon
