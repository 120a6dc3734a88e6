// The statements over our own tables. All run at once, on a connection that holds the write lock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "adapters/sqlite/connection.h"
#include "src/unit/session.h"

namespace onceward::sqlite {

// Whose transaction it is, and when it began.
struct Stamp {
  std::int32_t consumer;
  std::int64_t at_microseconds;
};

// Runs a statement of ours that reads onceward_rows; `bind` gives it what all rows share. As single rows each would
// begin a statement, read and write the table's sequence, and build the lists of its checks again.
template <class Bind>
void run_over(Connection& connection, std::string_view sql, const RowSource& rows, Bind&& bind) {
  connection.rows().offer();
  Statement& statement = connection.own(sql);
  bind(statement);
  const RowsTable::Showing showing(connection.rows(), rows);
  statement.run();
}

// What is known of those that were not claimed.
void look_up(Connection& connection, Batch& batch);
// Claims identities, then operations, then looks up whatever was there before: the batch is resolved on return.
void claim(Connection& connection, Batch& batch, const Stamp& stamp);

// The messages of those rows, none of which is there yet.
void write_unseen(Connection& connection, std::span<const OutcomeRow> rows, const Stamp& stamp);
void write_outcomes(Connection& connection, std::span<const OutcomeRow> rows, const Stamp& stamp);
// Of those rows that keep their message's bytes.
void write_bodies(Connection& connection, std::span<const OutcomeRow> rows, const Stamp& stamp);
void write_parked(Connection& connection, std::span<const Parked* const> rows, const Stamp& stamp);
// Throws Fault(fact_exists); `refused` is then the fact.
void write_outbox(Connection& connection, std::span<const StagedOutgoing> rows, const Stamp& stamp,
                  std::optional<Key>& refused);
// Throws Fault(call_conflict); `refused` is then the call.
void write_calls(Connection& connection, std::span<const StagedCall> rows, const Stamp& stamp,
                 std::optional<Key>& refused, std::vector<Repeats>& repeats);
Cancelled cancel_call(Connection& connection, const Key& call, std::string_view who, const Stamp& stamp);

}  // namespace onceward::sqlite
