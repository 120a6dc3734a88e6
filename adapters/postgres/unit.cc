#include "adapters/postgres/unit.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "src/effect/sql_text.h"
#include "src/inbox/recorded.h"

namespace onceward::postgres {
namespace {

Fault refused_statement(const char* what) { return {FaultCode::statement_failed, Poisons::transaction, what}; }

}  // namespace

Unit::Unit(Connection& connection, const Enrolled& consumer) : connection_(connection), consumer_(consumer) {}

Unit::Unit(std::unique_ptr<Connection> borrowed, const Enrolled& consumer)
    : own_wrapper_(std::move(borrowed)), connection_(*own_wrapper_), consumer_(consumer), begun_(true) {}

Unit::~Unit() {
  if (!own_wrapper_) {
    if (!ended_) roll_back();
  } else if (unwritten() && !failed_ && std::uncaught_exceptions() == 0 && connection_.in_transaction()) {
    std::fputs("onceward: an enlistment ended with work that was not written: call flush() before COMMIT\n", stderr);
    std::abort();
  }
}

// A transaction in which something has failed can never commit: PostgreSQL would answer COMMIT with ROLLBACK and no
// error, and what was queued behind the failure was not run.
template <class Work>
auto Unit::guarded(Work&& work) {
  if (failed_ || ended_) {
    throw Fault(FaultCode::transaction_failed, Poisons::transaction,
                "the transaction has ended or failed before: begin a new one");
  }
  try {
    return work();
  } catch (...) {
    failed_ = true;
    throw;
  }
}

void Unit::begin() {
  if (begun_) return;
  begun_ = true;
  connection_.queue("BEGIN ISOLATION LEVEL READ COMMITTED", {});
  connection_.queue(connection_.settings(), {});
}

void Unit::claim(std::span<const Claimant> batch) {
  guarded([&] {
    if (batch_) throw refused_statement("a unit claims once: put all messages into one batch");
    batch_.emplace(batch);
    if (batch.empty()) return;
    begin();
    queue_claim(connection_, *batch_, consumer_.number);
    read_claimed(connection_.sync().back().get(), *batch_);
    claim_operations();
  });
}

// The repeats are looked up in the same trip; those that lost their operation need one more.
void Unit::claim_operations() {
  const auto operations = batch_->operations_to_claim();
  if (operations.empty()) return;
  queue_operations(connection_, *batch_, operations, consumer_.number);
  queue_look_up_of_repeats();
  const auto results = connection_.sync();
  read_operations(results.front().get(), *batch_);
  read_look_up(results);
  if (const auto lost = batch_->operations_to_look_up(); !lost.empty()) {
    queue_operation_look_up(connection_, *batch_, lost);
    read_known_operations(connection_.sync().back().get(), *batch_);
  }
}

void Unit::queue_look_up_of_repeats() {
  if (looked_up_ || !batch_) return;
  looked_up_ = true;
  const auto repeats = batch_->to_look_up();
  if (repeats.empty()) return;
  look_up_at_ = connection_.queued() + 1;
  queue_look_up(connection_, *batch_, repeats);
}

void Unit::read_look_up(const std::vector<Result>& results) {
  if (look_up_at_ == 0) return;
  read_known(results[look_up_at_ - 1].get(), *batch_);
  look_up_at_ = 0;
}

bool Unit::first(std::size_t index) const { return batch_ && batch_->first(static_cast<Batch::Index>(index)); }

std::span<const Answer> Unit::answers() {
  if (!batch_) return {};
  if (!looked_up_) {
    guarded([&] {
      queue_look_up_of_repeats();
      read_look_up(connection_.sync());
    });
  }
  // A row that stood in the way and is gone now was purged in between: nothing is known of that message.
  if (!batch_->resolved()) {
    throw Fault(FaultCode::lost_race, Poisons::transaction, "a known message vanished while it was looked up");
  }
  answers_ = batch_->answers();
  return answers_;
}

Transaction& Unit::on(std::size_t index) {
  if (!first(index)) throw refused_statement("only a message that is first has an effect");
  const Claimant& claimant = batch_->claimants()[index];
  scope_.cause = {static_cast<std::uint32_t>(index), consumer_.name, consumer_.scheme, claimant.key, claimant.envelope};
  return scope_;
}

Transaction& Unit::whole() {
  scope_.cause = Cause{};
  return scope_;
}

bool Unit::forget(std::size_t index) {
  const auto message = static_cast<std::uint32_t>(index);
  statements_.forget(message);
  staging_.forget(message);
  return !sent_.contains(message);
}

void Unit::finish(std::size_t index, Outcome outcome) {
  const auto message = static_cast<Batch::Index>(index);
  if (!first(index)) throw refused_statement("only a message that is first has an outcome");
  if (const auto* retry = std::get_if<Retry>(&outcome)) retry_after_[message] = retry->after;
  batch_->finish(message, recorded_of(std::move(outcome)));
}

void Unit::park(const Envelope& envelope, const Enrolled& consumer, std::string_view reason, std::string_view detail) {
  parked_.push_back(parked(envelope, consumer.number, reason, detail));
}

bool Unit::unwritten() const {
  return !statements_.empty() || !staging_.outgoing().empty() || !staging_.calls().empty() || !parked_.empty() ||
         (batch_ && !outcomes_written_ && !batch_->records().empty());
}

void Unit::queue_statements() {
  begin();
  for (const BufferedStatement& statement : statements_.all()) {
    connection_.queue(statement.sql, parameters_.encode(statement.values), Whose::users, Connection::Format::text);
    if (statement.message != Statements::no_message) sent_.insert(statement.message);
  }
  statements_.clear();
}

void Unit::queue_outcomes_of_batch() {
  if (!batch_ || outcomes_written_) return;
  outcomes_written_ = true;
  std::vector<OutcomeRow> rows, bodies;
  for (const auto& [index, recorded] : batch_->records()) {
    const Claimant& claimant = batch_->claimants()[index];
    const auto after = retry_after_.find(index);
    rows.push_back({&claimant, recorded,
                    after == retry_after_.end() ? std::nullopt : std::optional(after->second)});
    const bool quarantined = recorded.state == State::quarantined;
    if (quarantined || recorded.state == State::retryable_failed) bodies.push_back(rows.back());
    if (quarantined) parked_.push_back(parked(*claimant.envelope, consumer_.number, recorded.code, {}));
  }
  queue_outcomes(connection_, rows, consumer_.number);
  queue_bodies(connection_, bodies);
}

void Unit::queue_writes() {
  queue_statements();
  queue_outcomes_of_batch();
  queue_parked(connection_, parked_);
  queue_outbox(connection_, staging_.outgoing(), consumer_.number);
  queue_calls(connection_, staging_.calls(), consumer_.number);
  parked_.clear();
  staging_.written();
}

void Unit::flush() {
  guarded([&] {
    queue_look_up_of_repeats();
    queue_writes();
    read_look_up(connection_.sync());
  });
}

Commit Unit::commit() {
  if (failed_ || ended_) {
    if (!ended_) roll_back();
    ended_ = true;
    return Commit::failed;
  }
  std::vector<Result> results;
  Commit ending{};
  try {
    ending = guarded([&] {
      queue_look_up_of_repeats();
      queue_writes();
      connection_.queue("COMMIT", {});
      return connection_.sync_commit(results);
    });
  } catch (...) {
    roll_back();
    ended_ = true;
    throw;
  }
  if (ending == Commit::committed) read_look_up(results);
  ended_ = true;
  return ending;
}

void Unit::roll_back() {
  if (!begun_ || !connection_.usable()) return;
  try {
    if (connection_.queued() == 0 && !connection_.in_transaction()) return;
    connection_.queue("ROLLBACK", {});
    connection_.sync();
  } catch (const Fault&) {
    connection_.abandon();  // the server undoes it when the connection is gone
  }
}

void Unit::Scope::execute_values(std::string_view sql, std::span<const Value> values) {
  if (controls_transaction(sql)) {
    throw refused_statement("a handler cannot begin, end or divide its transaction, nor change its settings");
  }
  unit_.statements_.add(cause.index, sql, values);
}

Result Unit::Scope::wait_for(std::string_view sql, std::span<const Value> values) {
  execute_values(sql, values);
  return unit_.guarded([&] {
    unit_.queue_statements();
    auto results = unit_.connection_.sync();
    unit_.read_look_up(results);
    return std::move(results.back());
  });
}

std::int64_t Unit::Scope::execute_counted_values(std::string_view sql, std::span<const Value> values) {
  return rows_changed(wait_for(sql, values).get());
}

Rows Unit::Scope::query_values(std::string_view sql, std::span<const Value> values) {
  return rows_of(wait_for(sql, values).get());
}

Inserted Unit::Scope::insert_once_values(std::string_view insert_sql, std::span<const Value> values) {
  const Result result = wait_for(std::string(insert_sql) + " ON CONFLICT DO NOTHING", values);
  return rows_changed(result.get()) > 0 ? Inserted::inserted : Inserted::already;
}

void Unit::Scope::execute_over(const Relation& relation, std::string_view sql) {
  if (controls_transaction(sql)) throw refused_statement("a handler cannot begin, end or divide its transaction");
  OverRelation statement = over(relation, sql);
  std::vector<Column*> columns;
  for (Column& column : statement.columns) columns.push_back(&column);
  unit_.guarded([&] {
    unit_.queue_statements();
    unit_.connection_.queue(statement.sql, parameters_of(columns), Whose::users, Connection::Format::text);
    if (cause.index != no_cause) unit_.sent_.insert(cause.index);
  });
}

void Unit::Scope::stage(const Outgoing& outgoing) { unit_.staging_.add(cause, outgoing); }
void Unit::Scope::stage(const Call& call) { unit_.staging_.add(cause, call); }

}  // namespace onceward::postgres
