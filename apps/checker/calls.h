// Compares the calls of a run with the gateway's own log, capture by capture.
#pragma once

#include "apps/checker/evidence.h"
#include "apps/checker/lines.h"

namespace checker {

struct CallCounts {
  std::int64_t captures = 0;    // that the gateway has made
  std::int64_t unknown = 0;     // calls whose outcome was not known at some time
  std::int64_t reconciled = 0;  // of these, which are known now
  std::int64_t waiting = 0;     // of these, which wait for a person, with a reason
};

// Of a run with Onceward: the ledger and the gateway say the same.
CallCounts prove_calls(const Evidence& evidence, Lines& lines);
// Of one without: how often the gateway has taken the money of those who should have paid `asked` in all.
CallCounts prove_charges(const Evidence& evidence, std::int64_t asked, Lines& lines);

}  // namespace checker
