#include "adapters/sqlite/unit.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "adapters/sqlite/schema.h"
#include "src/effect/sql_text.h"
#include "src/inbox/recorded.h"

namespace onceward::sqlite {
namespace {

Fault refused(const char* what) { return {FaultCode::statement_failed, Poisons::transaction, what}; }

void check_statement(std::string_view sql) {
  if (controls_transaction(sql)) {
    throw refused("a handler cannot begin, end or divide its transaction, attach databases or change settings");
  }
}

}  // namespace

Unit::Unit(Connection& connection, const Enrolled& consumer)
    : connection_(connection),
      consumer_(consumer),
      stamp_{consumer.number, now_microseconds()},
      exceptions_at_start_(std::uncaught_exceptions()) {}

Unit::Unit(std::unique_ptr<Connection> borrowed, const Enrolled& consumer)
    : wrapper_(std::move(borrowed)),
      connection_(*wrapper_),
      consumer_(consumer),
      stamp_{consumer.number, now_microseconds()},
      exceptions_at_start_(std::uncaught_exceptions()) {}

Unit::~Unit() {
  if (!wrapper_) {
    if (!ended_) connection_.roll_back();
  } else if (!failed_ && std::uncaught_exceptions() <= exceptions_at_start_ && connection_.in_transaction() &&
             unwritten()) {
    std::fputs("onceward: an enlistment ended with work that was not written: call flush() before COMMIT\n", stderr);
    std::abort();
  }
}

// SQLite undoes only the statement that failed, and would commit the rest: a unit in which anything has thrown never
// gets that far.
template <class Work>
auto Unit::guarded(Work&& work) {
  if (failed_ || ended_) {
    throw Fault(FaultCode::transaction_failed, Poisons::transaction,
                "the transaction has ended or failed before: begin a new one");
  }
  try {
    return work();
  } catch (const Fault& fault) {
    failed_ = true;
    if (fault.poisons() != Poisons::transaction) connection_.abandon();
    throw;
  } catch (...) {
    failed_ = true;
    throw;
  }
}

void Unit::claim(std::span<const Claimant> batch) {
  guarded([&] {
    if (batch_) throw refused("a unit claims once: put all messages into one batch");
    batch_.emplace(batch);
    sent_.resize(batch.size());
    sqlite::claim(connection_, *batch_, stamp_);
    // A key that refused the insert and is not found again is an index that disagrees with its table.
    if (!batch_->resolved()) throw fault_of(SQLITE_CORRUPT_INDEX);
  });
}

bool Unit::first(std::size_t index) const { return batch_ && batch_->first(static_cast<Batch::Index>(index)); }

std::span<const Answer> Unit::answers() {
  if (!batch_) return {};
  if (!batch_->resolved()) {
    throw Fault(FaultCode::transaction_failed, Poisons::transaction, "the claim has failed: nothing is known");
  }
  answers_ = batch_->answers();
  return answers_;
}

Transaction& Unit::on(std::size_t index) {
  return *guarded([&]() -> Scope* {
    if (!first(index)) throw refused("only a message that is first has an effect");
    const Claimant& claimant = batch_->claimants()[index];
    scope_.cause = {static_cast<std::uint32_t>(index), consumer_.name, consumer_.scheme, claimant.key,
                    claimant.envelope};
    return &scope_;
  });
}

Transaction& Unit::whole() {
  scope_.cause = Cause{};
  return scope_;
}

bool Unit::forget(std::size_t index) {
  const auto message = static_cast<std::uint32_t>(index);
  statements_.forget(message);
  staging_.forget(message);
  return index >= sent_.size() || !sent_[index];
}

void Unit::finish(std::size_t index, Outcome outcome) {
  guarded([&] {
    if (!first(index)) throw refused("only a message that is first has an outcome");
    if (records_written_) throw refused("the outcomes of this unit were flushed: finish messages before flush()");
    const auto message = static_cast<Batch::Index>(index);
    retry_after_.erase(message);
    if (const auto* retry = std::get_if<Retry>(&outcome)) retry_after_[message] = retry->after;
    batch_->finish(message, recorded_of(std::move(outcome)));
  });
}

void Unit::park(const Envelope& envelope, const Enrolled& consumer, std::string_view reason, std::string_view detail) {
  guarded([&] { parked_.push_back(parked(envelope, consumer.number, reason, detail)); });
}

bool Unit::unwritten() const {
  return !statements_.empty() || !staging_.empty() || !parked_.empty() ||
         (batch_ && !records_written_ && !batch_->records().empty());
}

void Unit::sent(std::uint32_t message) {
  if (message < sent_.size()) sent_[message] = true;
}

void Unit::run_statements() {
  if (statements_.empty()) return;
  const Connection::UsersTurn turn(connection_);
  for (const BufferedStatement& buffered : statements_.all()) {
    sent(buffered.message);
    Statement& statement = connection_.users(buffered.sql);
    statement.bind_values(buffered.values);
    statement.run();
  }
  statements_.clear();
}

void Unit::write_records() {
  if (!batch_ || records_written_) return;
  std::vector<OutcomeRow> rows, bodies;
  for (auto& [index, recorded] : batch_->records()) {
    OutcomeRow row{&batch_->claimants()[index], std::move(recorded), std::nullopt};
    if (const auto after = retry_after_.find(index); after != retry_after_.end()) row.retry_after = after->second;
    const State state = row.recorded.state;
    if (state == State::retryable_failed || state == State::quarantined) bodies.push_back(row);
    if (state == State::quarantined) {
      parked_.push_back(parked(*row.claimant->envelope, consumer_.number, row.recorded.code, {}));
    }
    rows.push_back(std::move(row));
  }
  write_outcomes(connection_, rows, stamp_);
  write_bodies(connection_, bodies, stamp_);
  records_written_ = true;
}

void Unit::write_all() {
  run_statements();
  write_records();
  write_parked(connection_, parked_, stamp_);
  parked_.clear();
  write_outbox(connection_, staging_.outgoing(), stamp_);
  write_calls(connection_, staging_.calls(), stamp_);
  staging_.written();
}

void Unit::flush() {
  guarded([&] { write_all(); });
}

Commit Unit::ended(Commit how) {
  ended_ = true;
  if (how != Commit::committed) connection_.roll_back();
  return how;
}

Commit Unit::commit() {
  if (ended_) return Commit::failed;
  if (failed_) return ended(Commit::failed);
  try {
    guarded([&] { write_all(); });
  } catch (...) {
    ended(Commit::failed);
    throw;
  }
  const int result = connection_.commit();
  if (result == SQLITE_DONE) return ended(Commit::committed);
  const Fault fault = fault_of(result);
  const int kind = result & 0xff;
  // Part of the WAL may have been written: whether the commit is in it is known only once the file is opened again.
  const bool unknown = kind == SQLITE_IOERR || kind == SQLITE_NOMEM;
  if (unknown) connection_.abandon();
  ended(Commit::failed);
  if (unknown) return Commit::in_doubt;
  throw fault;
}

void Unit::Scope::execute_values(std::string_view sql, std::span<const Value> values) {
  unit_.guarded([&] {
    check_statement(sql);
    unit_.statements_.add(cause.index, sql, values);
  });
}

template <class Work>
auto Unit::Scope::at_once(std::string_view sql, std::span<const Value> values, Work&& work) {
  return unit_.guarded([&] {
    check_statement(sql);
    unit_.run_statements();
    unit_.sent(cause.index);
    const Connection::UsersTurn turn(unit_.connection_);
    Statement& statement = unit_.connection_.users(sql);
    statement.bind_values(values);
    return work(statement);
  });
}

std::int64_t Unit::Scope::execute_counted_values(std::string_view sql, std::span<const Value> values) {
  return at_once(sql, values, [](Statement& statement) { return statement.run(); });
}

Rows Unit::Scope::query_values(std::string_view sql, std::span<const Value> values) {
  return at_once(sql, values, [](Statement& statement) {
    Rows rows;
    const int columns = sqlite3_column_count(statement.get());
    statement.each([&](sqlite3_stmt* found) {
      Row& row = rows.emplace_back();
      row.reserve(static_cast<std::size_t>(columns));
      for (int column = 0; column < columns; ++column) row.push_back(datum_at(found, column));
    });
    return rows;
  });
}

Inserted Unit::Scope::insert_once_values(std::string_view insert_sql, std::span<const Value> values) {
  if (unit_.insert_once_sql_ != insert_sql) {
    unit_.insert_once_sql_ = insert_sql;
    // On a line of its own, behind whatever comment the statement may end with.
    const std::size_t end = insert_sql.find_last_not_of("; \t\r\n");
    unit_.insert_once_text_ = std::string(insert_sql.substr(0, end + 1)) + "\nON CONFLICT DO NOTHING";
  }
  const std::int64_t changed =
      at_once(unit_.insert_once_text_, values, [](Statement& statement) { return statement.run(); });
  return changed > 0 ? Inserted::inserted : Inserted::already;
}

void Unit::Scope::execute_over(const Relation& relation, std::string_view sql) {
  unit_.guarded([&] {
    check_statement(sql);
    const RelationRows rows(relation);
    const std::string text = rows.over(sql);
    unit_.run_statements();
    unit_.sent(cause.index);
    unit_.connection_.rows().offer();
    const Connection::UsersTurn turn(unit_.connection_);
    Statement& statement = unit_.connection_.users(text);
    const RowsTable::Showing showing(unit_.connection_.rows(), rows);
    statement.bind_values({});
    statement.run();
  });
}

void Unit::Scope::stage(const Outgoing& outgoing) {
  unit_.guarded([&] { unit_.staging_.add(cause, outgoing); });
}

void Unit::Scope::stage(const Call& call) {
  unit_.guarded([&] { unit_.staging_.add(cause, call); });
}

}  // namespace onceward::sqlite
