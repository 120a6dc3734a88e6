// What people's decisions write into the ledger, whatever the decision.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "src/records/statement.h"
#include "src/records/steps.h"

namespace onceward::records {

// To be made anew under its key. What a person had approved waits for an approval again: the one before was for one call.
inline constexpr std::string_view planned_again =
    "state = CASE WHEN approved_until IS NULL THEN 'planned' ELSE 'waiting' END, attempts = 0, look_ups = 0, due_at = {now}, "
    "ended_at = NULL, owner = '', lease_until = NULL, approved_until = NULL, decided_by = '', code = '', detail = ''";

inline std::string ended_for_good(std::string_view state) {
  return fmt::format("state = '{}', due_at = NULL, ended_at = {{now}}, owner = '', lease_until = NULL", state);
}

struct PersonsAttempt {
  std::string_view who;
  std::string_view outcome;
  std::string_view why;
  std::string_view external_ref;
};
// A row among the attempts of each. The calls are locked.
void note_decision(Transaction& transaction, Dialect dialect, const Numbers& numbers, const PersonsAttempt& attempt);

}  // namespace onceward::records
