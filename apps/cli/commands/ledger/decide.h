// What approve, refuse and reconcile by number share: one call, who and why, a question, and how it ended.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apps/cli/command.h"
#include "apps/cli/mandate.h"
#include "apps/cli/stores.h"
#include "src/records/ledger_decision.h"

namespace onceward::cli {

struct DecisionChoice {
  StoreChoice store;
  std::int64_t number = 0;
  Mandate mandate;
};

struct DecisionKind {
  std::string verb;         // "approve"
  records::CallState from;  // the state that it is about
  std::function<records::Decided(Store&, const records::Decision&)> decide;
};

// Shows the call, asks, and decides. The session's ending says how: 3 no such call, 4 it is in another state, 6 refused.
void decide(Session& session, DecisionChoice& choice, const DecisionKind& kind);

}  // namespace onceward::cli
