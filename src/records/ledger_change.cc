#include "src/records/ledger_change.h"

namespace onceward::records {

void note_decision(Transaction& transaction, Dialect dialect, const Numbers& numbers, const PersonsAttempt& attempt) {
  Statement count(dialect, "UPDATE {ledger} SET last_attempt = last_attempt + 1 WHERE number ");
  count.bind_any(numbers).run(transaction);
  Statement insert(dialect,
                   "INSERT INTO {ledger_attempt} (key, number, kind, who, began_at, ended_at, outcome, external_ref, "
                   "detail) SELECT l.key, l.last_attempt, 'person', ");
  insert.bind(attempt.who).add(", {now}, {now}, ").bind(attempt.outcome).add(", ").bind(attempt.external_ref);
  insert.add(", ").bind(attempt.why).add(" FROM {ledger} l WHERE l.number ").bind_any(numbers).run(transaction);
}

}  // namespace onceward::records
