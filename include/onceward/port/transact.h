// The loop around a unit of work; included by onceward/port/store.h.
#pragma once

#include <optional>
#include <vector>

#include "onceward/port/store.h"

namespace onceward {

// Sleeps before attempt `attempt` (1 is the second), exponentially longer with full jitter.
void pause_before(const RetryLimit& limit, int attempt);

// What is thrown for a unit that failed, or is in doubt and not run again.
Fault not_committed(Commit ending);

template <class Work>
std::vector<Answer> transact(Store& store, const Enrolled& consumer, const RetryLimit& limit, Work&& work) {
  for (int attempt = 1;; ++attempt) {
    std::optional<Fault> ended;
    try {
      auto unit = store.begin(consumer);
      work(*unit);
      const Commit ending = unit->commit();
      if (ending == Commit::committed) {
        const auto answers = unit->answers();
        return {answers.begin(), answers.end()};
      }
      // In doubt needs no repair: claiming again says duplicate if it landed, first if not.
      if (ending == Commit::failed || !unit->claimed() || attempt >= limit.attempts) ended = not_committed(ending);
    } catch (const Fault& fault) {
      if (!fault.transient() || fault.poisons() == Poisons::process || attempt >= limit.attempts) throw;
    }
    if (ended) throw *ended;
    pause_before(limit, attempt);
  }
}

}  // namespace onceward
