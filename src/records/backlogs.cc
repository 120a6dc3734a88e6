#include "src/records/backlogs.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/records/outbox_rows.h"
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

namespace {

// Counts a part of the outbox, and looks at the thousand that stand in front for the oldest.
class OutboxPart {
 public:
  OutboxPart(Look& look, Dialect dialect, std::string_view from, std::string_view condition)
      : look_(look), dialect_(dialect), rows_(fmt::format(" FROM {} WHERE {}", from, condition)) {}

  std::int64_t count() const {
    Statement count(dialect_, "SELECT count(*) FROM (SELECT 1");
    count.add(rows_).add(" LIMIT ").bind(most_counted).add(") AS counted");
    return number_in(count.query(look_).at(0).at(0));
  }
  std::chrono::microseconds age() const {
    Statement oldest(dialect_, "SELECT {micros min(f.staged_at)}, {now_micros} FROM (SELECT o.staged_at");
    oldest.add(rows_).add(" ORDER BY o.position LIMIT 1000) AS f");
    const Row row = oldest.query(look_).at(0);
    return is_null(row[0]) ? std::chrono::microseconds(0) : time_in(row[1]) - time_in(row[0]);
  }

 private:
  Look& look_;
  const Dialect dialect_;
  const std::string rows_;
};

}  // namespace

OutboxBacklog read_outbox_backlog(Store& store) {
  const Dialect dialect = store.dialect();
  const auto look = store.look();
  std::vector<OutboxPart> pending{{*look, dialect, waiting_outbox, "o.state IN ('waiting', 'behind')"}};
  for (const std::string& condition : pending_conditions(*look, dialect)) {
    pending.emplace_back(*look, dialect, pending_outbox, condition);
  }
  OutboxBacklog backlog;
  for (const OutboxPart& part : pending) {
    backlog.pending = std::min(backlog.pending + part.count(), most_counted);
    backlog.oldest_pending = std::max(backlog.oldest_pending, part.age());
  }
  backlog.quarantined = OutboxPart(*look, dialect, waiting_outbox, "o.state = 'aside'").count();
  return backlog;
}

}  // namespace onceward::records
