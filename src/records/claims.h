// What the inbox would say to a message, without claiming anything.
#pragma once

#include <optional>

#include "onceward/port/store.h"

namespace onceward::records {

struct Claim {
  Key message;
  std::optional<Key> operation;
  PayloadHash payload_hash;
};

// Whether the message, or its operation, is known with another content, and would be refused for that. One that has not been
// claimed yet is not known: only a claim decides. Throws Fault.
bool is_conflict(Transaction& transaction, Dialect dialect, const Claim& claim);

}  // namespace onceward::records
