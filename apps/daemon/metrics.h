// What the daemon tells Prometheus. docs/reference/metrics.md maps each name to the one that the literature uses.
#pragma once

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
struct Backlogs {
  std::map<std::string, Backlog> consumers{};  // by their names
  OutboxBacklog outbox{};                      // of the store

  void clear() { *this = {}; }
};

// What was done by others than workers.
struct OtherTallies {
  const RelayTally* relay = nullptr;  // none where this process does not relay
  std::vector<const DispatchPost*> dispatchers{};
  IngressTallies ingress{};
};

// In the text format of Prometheus.
std::string metrics_text(const Tallies& tallies, const Backlogs& backlogs, const OtherTallies& others = {});

}  // namespace onceward::daemon
