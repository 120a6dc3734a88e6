#include "src/records/backlogs.h"

#include <algorithm>

#include "src/records/statement.h"

namespace onceward::records {

std::map<std::string, Backlog> read_backlogs(Store& store) {
  // Scalar subqueries are looked up by key whatever a planner believes of the inbox.
  const Statement read(store.dialect(), R"sql(
SELECT c.name,
  (SELECT count(*) FROM {inbox_outcome} o WHERE o.consumer = c.number AND o.next_attempt_at IS NOT NULL),
  (SELECT {micros min(w.received)}
   FROM (SELECT (SELECT i.received_at FROM {inbox} i WHERE i.key = o.key) AS received FROM {inbox_outcome} o
         WHERE o.consumer = c.number AND o.next_attempt_at IS NOT NULL ORDER BY o.next_attempt_at LIMIT 10000) w),
  (SELECT count(*) FROM {quarantine} q WHERE q.consumer = c.number AND q.state = 'parked'),
  {now_micros},
  (SELECT count(*) FROM {quarantine} q WHERE q.consumer = c.number AND q.state = 'retrying' AND q.key IS NULL),
  (SELECT {micros min(q.parked_at)} FROM {quarantine} q
   WHERE q.consumer = c.number AND q.state = 'retrying' AND q.key IS NULL),
  (SELECT {micros min(o.recorded_at)} FROM {inbox_outcome} o
   WHERE o.consumer = c.number AND o.state = 2 AND o.next_attempt_at IS NOT NULL)
FROM {consumer} c)sql");
  const auto look = store.look();
  std::map<std::string, Backlog> backlogs;
  for (const Row& row : read.query(*look)) {
    Backlog& backlog = backlogs[text_in(row[0])];
    backlog.waiting = number_in(row[1]) + number_in(row[5]);
    for (const Datum& since : {row[2], row[6]}) {
      if (!is_null(since)) backlog.oldest_waiting = std::max(backlog.oldest_waiting, time_in(row[4]) - time_in(since));
    }
    if (!is_null(row[7])) backlog.oldest_claimed = time_in(row[4]) - time_in(row[7]);
    backlog.parked = number_in(row[3]);
  }
  return backlogs;
}

}  // namespace onceward::records
