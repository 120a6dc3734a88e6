#include "adapters/sqlite/session.h"

#include "adapters/sqlite/schema.h"
#include "adapters/sqlite/streams.h"
#include "adapters/sqlite/waiting.h"
#include "src/unit/faults.h"

namespace onceward::sqlite {

SqliteSession::SqliteSession(std::shared_ptr<Connection> connection, std::int32_t consumer, For what)
    : shared_(std::move(connection)), connection_(*shared_), stamp_{consumer, now_microseconds()}, for_(what) {}

// What poisons the connection is not tried on it again.
template <class Work>
auto SqliteSession::guarded(Work&& work) {
  try {
    return work();
  } catch (const Fault& fault) {
    if (fault.poisons() != Poisons::transaction) connection_.abandon();
    throw;
  }
}

void SqliteSession::claim(Batch& batch) {
  guarded([&] {
    sqlite::claim(connection_, batch, stamp_);
    // A key that refused the insert and is not found again is an index that disagrees with its table.
    if (!batch.resolved()) throw fault_of(SQLITE_CORRUPT_INDEX);
  });
}

void SqliteSession::look_up(Batch&) {}  // the claim has

void SqliteSession::resume(Batch& batch) {
  guarded([&] {
    for (const Batch::Index index : batch.to_claim()) {
      if (waits(connection_, batch.claimants()[index].key)) batch.claimed(index);
    }
    sqlite::look_up(connection_, batch);
  });
}

Streams SqliteSession::hold(std::span<const std::string_view> streams) {
  return guarded([&] { return streams_at(connection_, stamp_.consumer, streams); });
}

std::vector<TakenOver> SqliteSession::take_over(std::span<const std::string> streams) {
  return guarded([&] { return sqlite::take_over(connection_, stamp_.consumer, streams); });
}

std::optional<Stream> SqliteSession::begin_stream(const Stream& stream, std::int64_t next) {
  return guarded([&] { return sqlite::begin_stream(connection_, stamp_.consumer, stream, next); });
}

std::vector<Kept> SqliteSession::take_due(std::size_t most, std::chrono::milliseconds lease) {
  return guarded([&] { return sqlite::take_due(connection_, stamp_.consumer, most, lease); });
}

std::vector<int> SqliteSession::attempts(std::span<const Key> messages) {
  return guarded([&] { return used_attempts(connection_, messages); });
}

std::optional<Kept> SqliteSession::start_due(std::chrono::milliseconds lease) {
  return guarded([&] { return sqlite::start_due(connection_, stamp_.consumer, lease); });
}

void SqliteSession::mark() {
  guarded([&] { connection_.own("SAVEPOINT onceward_mark").run(); });
}

// Some failures make SQLite undo the whole transaction: then a savepoint of that name would not be found.
void SqliteSession::back_to_mark() {
  if (!connection_.usable() || !connection_.in_transaction()) throw transaction_gone();
  guarded([&] { connection_.own("ROLLBACK TO onceward_mark").run(); });
  refused_ = {};
  repeats_.clear();
}

Statement& SqliteSession::bound(const BufferedStatement& statement) {
  refused_ = {statement.message, std::nullopt};
  Statement& prepared = connection_.users(statement.sql);
  prepared.bind_values(statement.values);
  return prepared;
}

void SqliteSession::run(std::span<const BufferedStatement> statements) {
  guarded([&] {
    const Connection::UsersTurn turn(connection_);
    for (const BufferedStatement& statement : statements) bound(statement).run();
    refused_ = {};
  });
}

void SqliteSession::run_over(const Relation& relation, std::string_view sql) {
  guarded([&] {
    const RelationRows rows(relation);
    const std::string text = rows.over(sql);
    connection_.rows().offer();
    const Connection::UsersTurn turn(connection_);
    Statement& statement = connection_.users(text);
    const RowsTable::Showing showing(connection_.rows(), rows);
    statement.bind_values({});
    statement.run();
  });
}

std::int64_t SqliteSession::count(std::span<const BufferedStatement> before, const BufferedStatement& statement) {
  run(before);
  return guarded([&] {
    const Connection::UsersTurn turn(connection_);
    const std::int64_t changed = bound(statement).run();
    refused_ = {};
    return changed;
  });
}

Rows SqliteSession::query(std::span<const BufferedStatement> before, const BufferedStatement& statement) {
  run(before);
  return guarded([&] {
    Rows rows;
    const Connection::UsersTurn turn(connection_);
    Statement& asked = bound(statement);
    if (for_ == For::reading && sqlite3_stmt_readonly(asked.get()) == 0) throw only_reads();
    asked.each([&](sqlite3_stmt* found) {
      Row& row = rows.emplace_back();
      const int columns = sqlite3_column_count(found);  // of the row: the step may have prepared it anew
      row.reserve(static_cast<std::size_t>(columns));
      for (int column = 0; column < columns; ++column) row.push_back(datum_at(found, column));
    });
    refused_ = {};
    return rows;
  });
}

void SqliteSession::write(const Writes& writes) {
  guarded([&] {
    write_attempts(connection_, writes.attempts, stamp_);
    if (!writes.outcomes.empty() && writes.outcomes.front().replaces) {
      for (const OutcomeRow& row : writes.outcomes) write_replacement(connection_, row, stamp_);
    } else {
      if (!writes.outcomes.empty() && writes.outcomes.front().unseen) {
        write_unseen(connection_, writes.outcomes, stamp_);
      }
      write_outcomes(connection_, writes.outcomes, stamp_);
      write_bodies(connection_, writes.outcomes, stamp_);
    }
    write_resolved(connection_, writes.resolved);
    write_parked(connection_, writes.parked, stamp_);
    write_outbox(connection_, writes.outgoing, stamp_, refused_.row);
    write_calls(connection_, writes.calls, stamp_, refused_.row, repeats_);
    write_advances(connection_, stamp_.consumer, writes.advances);
  });
}

Cancelled SqliteSession::cancel_call(const Key& call, std::string_view who) {
  return guarded([&] { return sqlite::cancel_call(connection_, call, who, stamp_); });
}

void SqliteSession::flush(Batch*) {}  // nothing waits

Commit SqliteSession::commit(Batch*) {
  const int result = connection_.commit();
  if (result == SQLITE_DONE) return Commit::committed;
  const int kind = result & 0xff;
  // Part of the WAL may have been written: whether the commit is in it is known only once the file is opened again.
  if (kind == SQLITE_IOERR || kind == SQLITE_NOMEM) {
    connection_.roll_back();
    connection_.abandon();
    return Commit::in_doubt;
  }
  throw fault_of(result);
}

}  // namespace onceward::sqlite
