#include "adapters/postgres/session.h"

#include "adapters/postgres/relation.h"
#include "adapters/postgres/streams.h"
#include "adapters/postgres/tables.h"
#include "adapters/postgres/waiting.h"
#include "src/unit/faults.h"

namespace onceward::postgres {

PostgresSession::PostgresSession(std::shared_ptr<Connection> connection, std::int32_t consumer, Begins begins)
    : shared_(std::move(connection)),
      connection_(*shared_),
      consumer_(consumer),
      reads_(begins == Begins::to_read),
      begun_(begins == Begins::has_begun) {
  connection_.occupy(true);
  connection_.forget_refused();
}

// Another may have it after the end, while this one is only asked for its answers.
void PostgresSession::vacate() {
  if (occupies_) connection_.occupy(false);
  occupies_ = false;
}

void PostgresSession::begin() {
  if (begun_) return;
  begun_ = true;
  connection_.queue(reads_ ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN ISOLATION LEVEL READ COMMITTED",
                    {});
  connection_.queue(connection_.settings(), {});
}

void PostgresSession::claim(Batch& batch) {
  begin();
  queue_claim(connection_, batch, consumer_);
  read_claimed(connection_.sync().back().get(), batch);
  claim_operations(batch);
}

// The repeats are looked up in the same trip; those that lost their operation need one more.
void PostgresSession::claim_operations(Batch& batch) {
  const auto operations = batch.operations_to_claim();
  if (operations.empty()) return;
  queue_operations(connection_, batch, operations, consumer_);
  const std::size_t place = queue_look_up_of_repeats(batch);
  const auto results = connection_.sync();
  read_operations(results.front().get(), batch);
  read_look_up(results, place, batch);
  if (const auto lost = batch.operations_to_look_up(); !lost.empty()) {
    queue_operation_look_up(connection_, batch, lost);
    read_known_operations(connection_.sync().back().get(), batch);
    if (!batch.operations_resolved()) {
      throw Fault(FaultCode::lost_race, Poisons::transaction, "a known operation vanished while it was looked up");
    }
  }
}

std::size_t PostgresSession::queue_look_up_of_repeats(const Batch& batch) {
  const auto repeats = batch.to_look_up();
  if (repeats.empty()) return nowhere;
  const std::size_t place = connection_.queued();
  queue_look_up(connection_, batch, repeats);
  return place;
}

void PostgresSession::read_look_up(const std::vector<Result>& results, std::size_t place, Batch& batch) {
  if (place != nowhere) read_known(results[place].get(), batch);
}

void PostgresSession::look_up(Batch& batch) {
  const std::size_t place = queue_look_up_of_repeats(batch);
  read_look_up(connection_.sync(), place, batch);
}

void PostgresSession::run(std::span<const BufferedStatement> statements) {
  begin();
  const Whose whose = reads_ ? Whose::readers : Whose::users;
  for (const BufferedStatement& statement : statements) {
    encoding_ = statement.message;
    connection_.queue(statement.sql, parameters_.encode(statement.values), whose, Connection::Format::text,
                      statement.message);
  }
  encoding_ = Statements::no_message;
}

RefusedWork PostgresSession::refused() const {
  if (encoding_ != Statements::no_message) return {encoding_, std::nullopt};
  return connection_.refused();
}

void PostgresSession::run_over(const Relation& relation, std::string_view sql) {
  begin();
  OverRelation statement = over(relation, sql);
  std::vector<Column*> columns;
  for (Column& column : statement.columns) columns.push_back(&column);
  connection_.queue(statement.sql, parameters_of(columns), Whose::users, Connection::Format::text);
}

Result PostgresSession::answer_to(std::span<const BufferedStatement> before, const BufferedStatement& statement) {
  run(before);
  run({&statement, 1});
  return std::move(connection_.sync().back());
}

std::int64_t PostgresSession::count(std::span<const BufferedStatement> before, const BufferedStatement& statement) {
  return rows_changed(answer_to(before, statement).get());
}

Rows PostgresSession::query(std::span<const BufferedStatement> before, const BufferedStatement& statement) {
  return rows_of(answer_to(before, statement).get());
}

void PostgresSession::write(const Writes& writes) {
  begin();
  queue_attempts(connection_, writes.attempts);
  if (!writes.outcomes.empty() && writes.outcomes.front().replaces) {
    for (const OutcomeRow& row : writes.outcomes) queue_replacement(connection_, row);
  } else {
    if (!writes.outcomes.empty() && writes.outcomes.front().unseen) {
      queue_unseen(connection_, writes.outcomes, consumer_);
    }
    queue_outcomes(connection_, writes.outcomes, consumer_);
    queue_bodies(connection_, writes.outcomes);
  }
  queue_resolved(connection_, writes.resolved);
  queue_parked(connection_, writes.parked);
  queue_outbox(connection_, writes.outgoing, consumer_);
  calls_written_ = queue_calls(connection_, writes.calls, consumer_);
  queue_advances(connection_, consumer_, writes.advances, writes.believed);
  for (const Advance& advance : writes.advances) {
    moved_.insert_or_assign(std::string(advance.stream), StreamState{advance.before.epoch, advance.next});
  }
}

// A call that was there before inserts nothing.
void PostgresSession::read_calls(const std::vector<Result>& results) {
  for (CallsWritten& written : std::exchange(calls_written_, {})) {
    const auto inserted = static_cast<std::uint64_t>(rows_changed(results.at(written.place).get()));
    if (inserted >= written.staged.times) continue;
    written.staged.times -= inserted;
    repeats_.push_back(std::move(written.staged));
  }
}

Cancelled PostgresSession::cancel_call(const Key& call, std::string_view who) {
  begin();
  queue_cancel(connection_, call, who);
  return read_cancelled(connection_.sync().back().get());
}

// Forgotten here: only a commit makes it known again.
std::optional<Streams> PostgresSession::remembered(std::span<const std::string_view> streams) {
  Streams& all = connection_.streams()[consumer_];
  Streams found;
  for (const std::string_view name : streams) {
    const auto known = all.find(name);
    if (known == all.end()) return std::nullopt;
    found.insert(all.extract(known));
  }
  return found;
}

Streams PostgresSession::hold(std::span<const std::string_view> streams) {
  begin();
  queue_hold(connection_, consumer_, streams);
  return read_held(connection_.sync().back().get());
}

std::vector<TakenOver> PostgresSession::take_over(std::span<const std::string> streams) {
  begin();
  queue_take_over(connection_, consumer_, streams);
  return read_taken_over(connection_.sync().back().get(), streams);
}

std::optional<Stream> PostgresSession::begin_stream(const Stream& stream, std::int64_t next) {
  begin();
  queue_begin_stream(connection_, consumer_, stream, next);
  return read_begun(connection_.sync().back().get());
}

void PostgresSession::resume(Batch& batch) {
  begin();
  queue_resume(connection_, batch);
  read_claimed(connection_.sync().back().get(), batch);
}

std::vector<Kept> PostgresSession::take_due(std::size_t most, std::chrono::milliseconds lease) {
  begin();
  queue_take_due(connection_, consumer_, most, lease);
  return read_due(connection_.sync().back().get());
}

std::vector<int> PostgresSession::attempts(std::span<const Key> messages) {
  begin();
  queue_used(connection_, messages);
  return read_used(connection_.sync().back().get());
}

std::optional<Kept> PostgresSession::start_due(std::chrono::milliseconds lease) {
  begin();
  queue_start_due(connection_, consumer_, lease);
  std::vector<Kept> kept = read_due(connection_.sync().back().get());
  if (kept.empty()) return std::nullopt;
  return std::move(kept.front());
}

void PostgresSession::mark() {
  begin();
  connection_.queue("SAVEPOINT onceward_mark", {});
  connection_.sync();
}

void PostgresSession::back_to_mark() {
  if (!connection_.usable() || !connection_.in_transaction()) throw transaction_gone();
  commit_queued_ = false;
  // What was queued and never sent would be run first, and its failure would take the way back with it.
  try {
    connection_.sync();
  } catch (const Fault& fault) {
    if (fault.poisons() != Poisons::transaction) throw;
  }
  connection_.queue("ROLLBACK TO SAVEPOINT onceward_mark", {});
  connection_.sync();
  connection_.forget_refused();
  calls_written_.clear();
  encoding_ = Statements::no_message;
}

void PostgresSession::flush(Batch* batch) {
  const std::size_t place = batch ? queue_look_up_of_repeats(*batch) : nowhere;
  const auto results = connection_.sync();
  read_calls(results);
  if (batch) read_look_up(results, place, *batch);
}

Commit PostgresSession::commit(Batch* batch) {
  begin();
  const std::size_t place = batch ? queue_look_up_of_repeats(*batch) : nowhere;
  commit_queued_ = true;
  connection_.queue("COMMIT", {});
  std::vector<Result> results;
  const Commit ending = connection_.sync_commit(results);
  if (ending == Commit::committed && batch) read_look_up(results, place, *batch);
  if (ending == Commit::committed) {
    read_calls(results);
    for (auto& [stream, state] : moved_) connection_.streams()[consumer_].insert_or_assign(stream, state);
  }
  if (ending == Commit::in_doubt) connection_.abandon();
  if (ending != Commit::failed) vacate();
  return ending;
}

void PostgresSession::roll_back() {
  if (begun_ && connection_.usable() && (connection_.queued() > 0 || connection_.in_transaction())) undo();
  vacate();
}

void PostgresSession::undo() {
  // A COMMIT that still waits to be sent would be sent first.
  if (commit_queued_ && connection_.queued() > 0) return connection_.abandon();
  try {
    connection_.queue("ROLLBACK", {});
    connection_.sync();
  } catch (const Fault&) {
    connection_.abandon();  // the server undoes it when the connection is gone
  }
}

}  // namespace onceward::postgres
