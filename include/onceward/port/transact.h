// The loop around a unit of work; included by onceward/port/store.h.
#pragma once

#include <utility>

#include "onceward/port/store.h"

namespace onceward {

// Sleeps before attempt `attempt` (1 is the second), exponentially longer with full jitter.
void pause_before(const RetryLimit& limit, int attempt);

template <class Work>
std::vector<Answer> transact(Store& store, const Enrolled& consumer, const RetryLimit& limit, Work&& work) {
  for (int attempt = 1;; ++attempt) {
    try {
      auto unit = store.begin(consumer);
      work(*unit);
      if (unit->commit() == Commit::committed) {
        const auto answers = unit->answers();
        return {answers.begin(), answers.end()};
      }
      // Failed or in doubt: nothing to repair. Claiming again says duplicate if it landed, first if not.
      if (attempt >= limit.attempts) {
        throw Fault(FaultCode::store_unavailable, Poisons::transaction,
                    "the commit was not confirmed in " + std::to_string(attempt) + " attempts");
      }
    } catch (const Fault& fault) {
      if (!fault.transient() || fault.poisons() == Poisons::process || attempt >= limit.attempts) throw;
    }
    pause_before(limit, attempt);
  }
}

}  // namespace onceward
