#include <fmt/format.h>

#include <algorithm>

#include "src/records/backlogs.h"
#include "src/records/statement.h"

namespace onceward::records {
namespace {

// From one name to the next by the index of open calls, however many calls each has.
std::vector<std::string> endpoints_with_open_calls(Look& look, Dialect dialect) {
  const Statement select(
      dialect,
      "WITH RECURSIVE e (name) AS (SELECT min(endpoint) FROM {ledger} WHERE due_at IS NOT NULL UNION "
      "ALL SELECT (SELECT min(l.endpoint) FROM {ledger} l WHERE l.due_at IS NOT NULL AND l.endpoint > "
      "e.name) FROM e WHERE e.name IS NOT NULL) SELECT name FROM e WHERE name IS NOT NULL LIMIT 1000");
  std::vector<std::string> names;
  for (const Row& row : select.query(look)) names.push_back(text_in(row[0]));
  return names;
}

// Delayed calls are pending, and not old before their time has come.
void read_pending(Look& look, Dialect dialect, const std::string& endpoint, LedgerBacklog& backlog) {
  const bool postgres = dialect == Dialect::postgres;
  Statement select(dialect, "SELECT count(*), ");
  select.add(postgres ? "{micros min(greatest(f.created_at, f.not_before))}"
                      : "min(max(f.created_at, coalesce(f.not_before, 0)))");
  select.add(", {now_micros} FROM (SELECT l.created_at, l.not_before, l.state FROM {ledger} l WHERE l.endpoint = ");
  select.bind(endpoint).add(" AND l.due_at IS NOT NULL ORDER BY l.due_at LIMIT ").bind(most_counted);
  select.add(") AS f WHERE f.state IN ('planned', 'attempting', 'approved')");
  const Row row = select.query(look).at(0);
  backlog.pending = number_in(row[0]);
  if (!is_null(row[1])) {
    backlog.oldest_pending = std::max(std::chrono::microseconds(0), time_in(row[2]) - time_in(row[1]));
  }
}

void count_in_state(Look& look, Dialect dialect, std::string_view state, std::int64_t LedgerBacklog::* member,
                    std::map<std::string, LedgerBacklog>& backlogs) {
  Statement select(dialect, "SELECT f.endpoint, count(*) FROM (SELECT l.endpoint FROM {ledger} l WHERE l.state = ");
  select.bind(state).add(" ORDER BY l.number LIMIT ").bind(most_counted).add(") AS f GROUP BY f.endpoint");
  for (const Row& row : select.query(look)) backlogs[text_in(row[0])].*member = number_in(row[1]);
}

}  // namespace

std::map<std::string, LedgerBacklog> read_ledger_backlog(Store& store) {
  const Dialect dialect = store.dialect();
  const auto look = store.look();
  std::map<std::string, LedgerBacklog> backlogs;
  for (const std::string& endpoint : endpoints_with_open_calls(*look, dialect)) {
    read_pending(*look, dialect, endpoint, backlogs[endpoint]);
  }
  count_in_state(*look, dialect, "unknown", &LedgerBacklog::unknown, backlogs);
  count_in_state(*look, dialect, "waiting", &LedgerBacklog::waiting, backlogs);
  return backlogs;
}

}  // namespace onceward::records
