// What a run has left behind: the rows in its database, what is left in its queue, what its gateway says, and how its processes
// ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/checker/gateway.h"

namespace checker {

// run.json in the directory of a run.
struct Run {
  std::string directory;
  bool naive = false;    // no consumer of Onceward's: only the effects are looked at
  std::string store;     // postgres://... or sqlite:PATH
  std::string consumer;  // its name
  std::string capture_table, balance_table;
  std::string endpoint;  // as the gateway is called in the ledger
  bool only_effects =
      false;  // of a consumer that stages nothing, without poison: records and endings are not looked at
  // rabbitmq or kafka, what its tools are called by, its directory, and the queue or the group; empty: an embedded queue
  std::string broker, broker_script, broker_directory, queue;
};
Run read_run(const std::string& directory);

struct Capture {
  std::string id, capture, invoice, currency;
  std::int64_t amount = 0;
};
struct Parked {
  std::string id, reason, payload;
};
struct Outcome {
  std::string id, code;
  int state = 0;
};
struct Outgoing {
  std::string cause, type, key, payload;
};
struct Intent {
  std::string endpoint, key, body;
  std::string state, code, reference;
  bool due = false;  // somebody will look at it again by himself
};
struct CallAttempt {
  std::string key;   // of the intent
  std::string kind;  // call or look_up
  std::string outcome;
};

struct Evidence {
  std::vector<Capture> captures;
  std::int64_t balance = 0;
  std::vector<std::string> inbox;  // ids
  std::vector<Outcome> outcomes;   // of those that are not plain done
  std::vector<Outgoing> outbox;
  std::vector<Intent> ledger;
  std::vector<CallAttempt> attempts;  // in the order of each intent's own
  Gateway gateway;
  std::vector<Parked> parked;
  std::vector<std::string> queued;  // ids of messages that the queue still holds; empty where one has none
  std::int64_t killed = 0;          // workers that ended by SIGKILL
  std::int64_t aborted = 0;         // and by a message, with SIGABRT
  std::int64_t gateways_killed = 0, dispatchers_killed = 0;
  std::vector<std::string> failed;  // how others ended
  std::int64_t left = 0;            // messages that a real broker still holds; their ids are not known
  std::int64_t restarts = 0;        // of that broker, each after a SIGKILL
};
// Throws std::runtime_error.
Evidence collect(const Run& run);

}  // namespace checker
