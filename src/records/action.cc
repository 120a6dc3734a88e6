#include "src/records/action.h"

#include <stdexcept>

#include "src/common/timestamp.h"
#include "src/records/quarantine_rows.h"

namespace onceward::records {
namespace {

std::string json_of(const QuarantineFilter& filter) {
  std::string json = "{";
  add_member(json, "consumer", filter.consumer);
  add_member(json, "reason", filter.reason);
  add_member(json, "tenant", filter.tenant.value_or(std::string()));
  add_member(json, "producer", filter.producer);
  add_member(json, "id", filter.id);
  if (filter.since) add_member(json, "since", write_timestamp(*filter.since));
  if (filter.until) add_member(json, "until", write_timestamp(*filter.until));
  return json + "}";
}

// A message that was claimed can be sent again only while its inbox row says quarantined.
Numbers pick(Transaction& transaction, Dialect dialect, const Command& command, std::int64_t after) {
  Statement select(dialect, "SELECT q.number FROM {quarantine} q");
  Where where(select);
  QuarantineFilter filter = command.filter;
  filter.state = QuarantineState::parked;
  add_conditions(where, filter);
  where.add("q.number > ").bind(after);
  where.add("q.number <= ").bind(command.highest);
  if (command.action == Action::retry) {
    where.add("(q.key IS NULL OR EXISTS (SELECT 1 FROM {inbox_outcome} o WHERE o.key = q.key AND o.state = ")
        .bind(static_cast<std::int64_t>(State::quarantined))
        .add("))");
  }
  select.add(" ORDER BY q.number LIMIT ").bind(std::int64_t{command.rows_of_a_step}).add(" {lock}");
  return numbers_in(select.query(transaction));
}

void retry(Transaction& transaction, Dialect dialect, const std::string& who, const Numbers& numbers) {
  Statement outcome(dialect, "UPDATE {inbox_outcome} SET state = ");
  outcome.bind(static_cast<std::int64_t>(State::retryable_failed))
      .add(", next_attempt_at = {now} WHERE key IN ")
      .add("(SELECT q.key FROM {quarantine} q WHERE q.key IS NOT NULL AND q.number ");
  outcome.bind_any(numbers).add(")").run(transaction);

  Statement attempt(dialect, "INSERT INTO {attempt} (key, at, kind, worker, code) SELECT q.key, {now}, 'reset', ");
  attempt.bind(who).add(", '' FROM {quarantine} q WHERE q.key IS NOT NULL AND q.number ");
  attempt.bind_any(numbers).run(transaction);

  // Those that were never claimed count their attempts here.
  Statement parked(dialect,
                   "UPDATE {quarantine} SET state = 'retrying', retry_at = CASE WHEN key IS NULL THEN {now} END, "
                   "attempts = CASE WHEN key IS NULL THEN 0 ELSE attempts END WHERE number ");
  parked.bind_any(numbers).run(transaction);
}

void discard(Transaction& transaction, Dialect dialect, const Numbers& numbers) {
  Statement parked(dialect, "UPDATE {quarantine} SET state = 'discarded' WHERE number ");
  parked.bind_any(numbers).run(transaction);
}

}  // namespace

Preview preview(Store& store, const QuarantineFilter& filter) {
  const auto look = store.look();
  Statement count(store.dialect(),
                  "SELECT count(*), count(CASE WHEN q.state = 'parked' THEN 1 END), "
                  "max(CASE WHEN q.state = 'parked' THEN q.number END) FROM {quarantine} q");
  Where where(count);
  QuarantineFilter any = filter;
  any.state.reset();
  add_conditions(where, any);
  const Row row = count.query(*look).at(0);
  Preview seen{number_in(row[0]), number_in(row[1]), number_in(row[2]), {}};
  any.state = QuarantineState::parked;
  seen.first = read_rows(*look, store.dialect(), any, {.newest_first = false, .limit = 10});
  return seen;
}

std::string wrong_with(const Command& command) {
  return wrong_with(command.who, command.why, command.filter.numbers, command.rows_of_a_step);
}

Progress carry_out(Store& store, const Command& command, const GoOn& go_on) {
  if (const std::string wrong = wrong_with(command); !wrong.empty()) throw std::invalid_argument(wrong);
  const Dialect dialect = store.dialect();
  const Deed deed{
      .noun = "quarantine",
      .from = "{quarantine}",
      .number = "number",
      .action = command.action,
      .filter = json_of(command.filter),
      .who = command.who,
      .why = command.why,
      .pick = [&](Transaction& transaction, std::int64_t after) { return pick(transaction, dialect, command, after); },
      .change =
          [&](Transaction& transaction, const Numbers& numbers) {
            command.action == Action::retry ? retry(transaction, dialect, command.who, numbers)
                                            : discard(transaction, dialect, numbers);
          }};
  return do_in_steps(store, deed, go_on);
}

}  // namespace onceward::records
