#include "src/dispatch/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/outbox/staging.h"
#include "src/records/statement.h"

namespace onceward::dispatch {
namespace {

using records::bytes_in;
using records::is_null;
using records::number_in;
using records::Statement;
using records::text_in;
using records::time_in;

int whole_in(const Datum& datum) { return static_cast<int>(number_in(datum)); }

std::optional<std::chrono::microseconds> span_in(const Datum& datum) {
  if (is_null(datum)) return std::nullopt;
  return std::chrono::microseconds(number_in(datum));
}

// Numbers of attempts are drawn by people's decisions, too.
constexpr std::string_view standing_columns =
    "l.number, l.state, l.attempts, l.look_ups, "
    "(SELECT max(n.number) FROM {ledger_attempt} n WHERE n.key = l.key) AS highest, l.last_attempt, "
    "(SELECT max(n.number) FROM {ledger_attempt} n WHERE n.key = l.key AND n.kind = 'call') AS last_call, l.owner, "
    "{micros l.approved_until} - {now_micros} AS approval_left, {now_micros} - {micros l.first_attempt_at} AS since_first, "
    "{now_micros} - {micros l.ended_at} AS since_end, l.code, l.external_ref, l.detail";
constexpr std::size_t standing_width = 14;

Standing standing_in(const Row& row) {
  Standing standing;
  standing.number = number_in(row[0]);
  standing.state = state_named(text_in(row[1]));
  standing.attempts = whole_in(row[2]);
  standing.look_ups = whole_in(row[3]);
  standing.last_attempt = std::max(whole_in(row[4]), whole_in(row[5]));
  standing.last_call = whole_in(row[6]);
  standing.owner = text_in(row[7]);
  standing.approval_left = span_in(row[8]);
  standing.since_first = span_in(row[9]);
  standing.since_end = span_in(row[10]);
  standing.code = text_in(row[11]);
  standing.external_ref = text_in(row[12]);
  standing.detail = text_in(row[13]);
  return standing;
}

Content content_in(Row& row, std::size_t at) {
  return {.key = sent_key(text_in(row[at + 7]), text_in(row[at])),
          .type = text_in(row[at + 1]),
          .business_key = text_in(row[at + 2]),
          .body = bytes_in(row[at + 3]),
          .correlation_id = text_in(row[at + 4]),
          .trace_parent = text_in(row[at + 5]),
          .created_at = time_in(row[at + 6])};
}

// A time that an index can be asked for.
std::string_view now_to_compare(Dialect dialect) { return dialect == Dialect::postgres ? "now()" : "{now}"; }

// Says which states do not count instead of those that do: an index of states would be of use for that, and PostgreSQL without
// statistics takes a backlog for a few rows, joins both indexes, and reads and sorts all of it for each turn.
void add_due(Statement& select, Dialect dialect, const std::string& endpoint, Ledger::Due which) {
  const std::string_view now = now_to_compare(dialect);
  select.add(" FROM {ledger} l WHERE l.endpoint = ").bind(endpoint).add(" AND l.due_at <= ").add(now);
  select.add(" AND l.state <> 'waiting' AND l.state NOT IN ('succeeded', 'failed', 'refused', 'cancelled'");
  select.add(which == Ledger::Due::all ? ")" : ", 'planned', 'approved', 'unknown')");
  // Whoever stages beside us may be a program that knows nothing of due_at.
  select.add(" AND (l.not_before IS NULL OR l.not_before <= ").add(now).add(")");
}

std::string after(Dialect dialect, std::string_view delay_ms) {
  return fmt::format("{{now}} + {} * {}", delay_ms, dialect == Dialect::postgres ? "interval '1 millisecond'" : "1000");
}

// A column in which some rows have no value.
template <class Value>
class Sparse {
 public:
  explicit Sparse(std::size_t rows) : present_(std::make_unique<bool[]>(rows)) { values_.reserve(rows); }
  void add(const std::optional<Value>& value) {
    present_[values_.size()] = value.has_value();
    values_.push_back(value.value_or(Value{}));
  }
  Column column(std::string_view name) const {
    return {name, std::span<const Value>(values_), {present_.get(), values_.size()}};
  }

 private:
  std::vector<Value> values_;
  std::unique_ptr<bool[]> present_;  // a vector of bool is none
};
using Spans = Sparse<std::int64_t>;
using Hashes = Sparse<Blob>;

std::optional<std::int64_t> count_of(const std::optional<std::chrono::milliseconds>& span) {
  return span ? std::optional(span->count()) : std::nullopt;
}
std::optional<Blob> blob_of(const std::optional<PayloadHash>& hash) {
  if (!hash) return std::nullopt;
  return Blob{{reinterpret_cast<const char*>(hash->bytes.data()), hash->bytes.size()}};
}

struct ChangeColumns {
  explicit ChangeColumns(std::span<const Change> changes)
      : due(changes.size()), lease(changes.size()), hashes(changes.size()) {
    for (const Change& change : changes) {
      numbers.push_back(change.number);
      befores.push_back(name(change.before));
      states.push_back(name(change.state));
      due.add(count_of(change.due));
      lease.add(count_of(change.lease));
      attempts.push_back(change.attempts);
      look_ups.push_back(change.look_ups);
      lasts.push_back(change.last_attempt);
      owners.push_back(change.owner);
      times.push_back(static_cast<std::int64_t>(change.time));
      codes.push_back(change.code);
      details.push_back(change.detail);
      references.push_back(change.external_ref);
      hashes.add(blob_of(change.response));
    }
  }
  void run(UnitOfWork& unit, const Statement& statement) const {
    const Column columns[] = {{"number", std::span(numbers)},
                              {"before", std::span(befores)},
                              {"state", std::span(states)},
                              due.column("due"),
                              lease.column("lease"),
                              {"attempts", std::span(attempts)},
                              {"look_ups", std::span(look_ups)},
                              {"last_attempt", std::span(lasts)},
                              {"owner", std::span(owners)},
                              {"time", std::span(times)},
                              {"code", std::span(codes)},
                              {"detail", std::span(details)},
                              {"reference", std::span(references)},
                              hashes.column("hash")};
    unit.whole().execute_over({"changes", columns}, statement.text());
  }

  std::vector<std::int64_t> numbers, attempts, look_ups, lasts, times;
  std::vector<std::string_view> befores, states, owners, codes, details, references;
  Spans due, lease;
  Hashes hashes;
};

// Rows of the ledger for those of a batch, and nothing else of it. A join alone does not say that: PostgreSQL that takes the tables
// for as empty as they were when it last counted goes through all of one of them, for each turn or even for each row of the batch.
std::string numbers_of(Dialect dialect, std::string_view batch) {
  return dialect == Dialect::postgres ? fmt::format("l.number = ANY(ARRAY(SELECT number FROM {}))", batch) : "true";
}

void write_changes(UnitOfWork& unit, Dialect dialect, std::span<const Change> changes) {
  if (changes.empty()) return;
  Statement update(dialect, "UPDATE {ledger} AS l SET state = c.state, due_at = ");
  update.add(after(dialect, "c.due")).add(", lease_until = ").add(after(dialect, "c.lease"));
  update.add(", attempts = c.attempts, look_ups = c.look_ups, last_attempt = c.last_attempt, owner = c.owner, ");
  update.add(
      "first_attempt_at = CASE WHEN c.time = 1 THEN coalesce(l.first_attempt_at, {now}) ELSE l.first_attempt_at END, ");
  update.add("attempted_at = CASE WHEN c.time = 1 THEN {now} ELSE l.attempted_at END, ");
  update.add("ended_at = CASE WHEN c.time = 1 THEN NULL WHEN c.time = 2 THEN {now} ELSE l.ended_at END, ");
  update.add("code = c.code, detail = c.detail, response_hash = coalesce(c.hash, l.response_hash), ");
  update.add("external_ref = CASE WHEN c.reference = '' THEN l.external_ref ELSE c.reference END FROM changes c ");
  // Not by the index of states, which PostgreSQL would go through to join in its order.
  update.add("WHERE l.number = c.number AND (l.state = c.before) IS TRUE AND ").add(numbers_of(dialect, "changes"));
  ChangeColumns(changes).run(unit, update);
}

void write_beginnings(UnitOfWork& unit, Dialect dialect, std::span<const Beginning> beginnings,
                      const std::string& owner) {
  if (beginnings.empty()) return;
  std::vector<std::int64_t> numbers, attempts;
  std::vector<std::string_view> kinds, owners;
  for (const Beginning& beginning : beginnings) {
    numbers.push_back(beginning.number);
    attempts.push_back(beginning.attempt);
    kinds.push_back(beginning.look_up ? "look_up" : "call");
    owners.push_back(owner);
  }
  const Column columns[] = {{"number", std::span(numbers)},
                            {"attempt", std::span(attempts)},
                            {"kind", std::span(kinds)},
                            {"who", std::span(owners)}};
  Statement insert(dialect,
                   "INSERT INTO {ledger_attempt} (key, number, kind, who, began_at) SELECT l.key, b.attempt, b.kind, "
                   "b.who, {now} FROM beginnings b JOIN {ledger} l ON l.number = b.number WHERE ");
  insert.add(numbers_of(dialect, "beginnings"));
  unit.whole().execute_over({"beginnings", columns}, insert.text());
}

void write_endings(UnitOfWork& unit, Dialect dialect, std::span<const Ending> endings) {
  if (endings.empty()) return;
  std::vector<std::int64_t> numbers, attempts, statuses;
  std::vector<std::string_view> outcomes, references, details;
  Hashes hashes(endings.size());
  for (const Ending& ending : endings) {
    numbers.push_back(ending.number);
    attempts.push_back(ending.attempt);
    statuses.push_back(ending.status);
    outcomes.push_back(ending.outcome);
    references.push_back(ending.external_ref);
    details.push_back(ending.detail);
    hashes.add(blob_of(ending.response));
  }
  const Column columns[] = {{"number", std::span(numbers)},
                            {"attempt", std::span(attempts)},
                            {"status", std::span(statuses)},
                            {"outcome", std::span(outcomes)},
                            {"reference", std::span(references)},
                            {"detail", std::span(details)},
                            hashes.column("hash")};
  // The keys come first: asked for both joins at once, PostgreSQL may look through all attempts for each ending.
  const std::string named = numbers_of(dialect, "endings");
  Statement update(dialect,
                   "UPDATE {ledger_attempt} AS t SET ended_at = {now}, outcome = e.outcome, status = e.status, "
                   "response_hash = e.hash, external_ref = e.reference, detail = e.detail FROM (SELECT l.key, g.* "
                   "FROM endings g JOIN {ledger} l ON l.number = g.number WHERE ");
  update.add(named).add(dialect == Dialect::postgres ? " OFFSET 0" : "");
  update.add(") e WHERE t.key = e.key AND t.number = e.attempt");
  if (dialect == Dialect::postgres) {
    update.add(" AND t.key = ANY(ARRAY(SELECT l.key FROM {ledger} l WHERE ").add(named).add("))");
  }
  unit.whole().execute_over({"endings", columns}, update.text());
}

}  // namespace

// PostgreSQL takes hundreds of numbers for more of the ledger than they are, and would read all of it to find them. Where it takes
// the ledger for nearly empty, it would compare each row of a batch with each that is found for it, and sort all that is due.
std::unique_ptr<UnitOfWork> Ledger::begin() const {
  auto unit = store_.begin({});
  if (store_.dialect() == Dialect::postgres) {
    Statement(store_.dialect(),
              "SELECT set_config(without, 'off', true) FROM (VALUES ('enable_seqscan'), ('enable_nestloop'), "
              "('enable_sort')) AS w (without)")
        .query(unit->whole());
  }
  return unit;
}

bool Ledger::any_due(Due which) const {
  Statement select(store_.dialect(), "SELECT 1");
  add_due(select, store_.dialect(), endpoint_, which);
  select.add(" AND l.owner <> ").bind(owner_).add(" LIMIT 1");
  return !select.query(*store_.look()).empty();
}

// One statement, so that it is one trip; what is not asked for costs nothing.
Ledger::Found Ledger::read(UnitOfWork& unit, std::span<const std::int64_t> answered, Due which,
                           std::size_t most) const {
  constexpr std::string_view content =
      "l.idempotency_key, l.type, l.business_key, l.body, l.correlation_id, l.trace_parent, {micros l.created_at} AS "
      "created, l.tenant";
  const Dialect dialect = store_.dialect();
  Statement select(dialect, "WITH answered AS (SELECT 1 AS found, ");
  select.add(standing_columns).add(", (SELECT n.outcome FROM {ledger_attempt} n WHERE n.key = l.key AND n.who = ");
  select.bind(owner_).add(
      " ORDER BY n.number DESC LIMIT 1) AS our_outcome, l.idempotency_key, l.type, l.business_key, ");
  select.add(
      "CASE WHEN 1 = 0 THEN l.body END AS body, l.correlation_id, l.trace_parent, {micros l.created_at} AS created, "
      "l.tenant");
  select.add(" FROM {ledger} l WHERE l.number ").bind_any(answered).add(" {lock}), due AS (SELECT 2 AS found, ");
  select.add(standing_columns).add(", '' AS our_outcome, ").add(content);
  add_due(select, dialect, endpoint_, which);
  select.add(" AND l.owner <> ").bind(owner_).add(" ORDER BY l.due_at LIMIT ").bind(static_cast<std::int64_t>(most));
  select.add(" {lock}").add(dialect == Dialect::postgres ? " SKIP LOCKED" : "");
  select.add(") SELECT * FROM answered UNION ALL SELECT * FROM due");

  Found found;
  for (Row& row : select.query(unit.whole())) {
    const bool is_answer = number_in(row[0]) == 1;
    row.erase(row.begin());
    Standing standing = standing_in(row);
    standing.our_outcome = text_in(row[standing_width]);
    if (is_answer) {
      found.answered.push_back(std::move(standing));
    } else {
      found.due.push_back(std::move(standing));
      found.contents.push_back(content_in(row, standing_width + 1));
    }
  }
  return found;
}

void Ledger::await(UnitOfWork& unit, std::span<const std::int64_t> numbers) const {
  Statement select(store_.dialect(), "SELECT l.number FROM {ledger} l WHERE l.number ");
  select.bind_any(numbers).add(" {lock}").query(unit.whole());
}

std::vector<Standing> Ledger::read_ours(UnitOfWork& unit) const {
  Statement select(store_.dialect(), "SELECT ");
  select.add(standing_columns).add(" FROM {ledger} l WHERE l.owner = ").bind(owner_).add(" AND l.owner <> '' {lock}");
  std::vector<Standing> ours;
  for (const Row& row : select.query(unit.whole())) ours.push_back(standing_in(row));
  return ours;
}

void Ledger::write(UnitOfWork& unit, std::span<const Change> changes, std::span<const Beginning> beginnings,
                   std::span<const Ending> endings) const {
  write_changes(unit, store_.dialect(), changes);
  write_beginnings(unit, store_.dialect(), beginnings, owner_);
  write_endings(unit, store_.dialect(), endings);
}

void Ledger::renew(UnitOfWork& unit, std::span<const std::int64_t> numbers, std::chrono::milliseconds lease) const {
  if (numbers.empty()) return;
  const std::string end = after(store_.dialect(), std::to_string(lease.count()));
  Statement update(store_.dialect(), "UPDATE {ledger} SET lease_until = ");
  update.add(end).add(", due_at = ").add(end).add(" WHERE owner = ").bind(owner_).add(" AND number ");
  update.bind_any(numbers).run(unit.whole());
}

void Ledger::reconsider(UnitOfWork& unit) const {
  Statement update(store_.dialect(), "UPDATE {ledger} SET due_at = {now} WHERE endpoint = ");
  update.bind(endpoint_).add(" AND state = 'unknown' AND due_at IS NULL").run(unit.whole());
}

}  // namespace onceward::dispatch
