// The statements over our own tables, each for a whole batch: queued on a connection, and their results read back.
#pragma once

#include <span>
#include <vector>

#include "adapters/postgres/connection.h"
#include "src/unit/session.h"

namespace onceward::postgres {

void queue_claim(Connection& connection, const Batch& batch, std::int32_t consumer);
void read_claimed(const PGresult* result, Batch& batch);
// The messages of those rows, none of which is there yet.
void queue_unseen(Connection& connection, std::span<const OutcomeRow> rows, std::int32_t consumer);

void queue_operations(Connection& connection, const Batch& batch, std::span<const Batch::Index> operations,
                      std::int32_t consumer);
void read_operations(const PGresult* result, Batch& batch);

void queue_look_up(Connection& connection, const Batch& batch, std::span<const Batch::Index> messages);
void read_known(const PGresult* result, Batch& batch);

void queue_operation_look_up(Connection& connection, const Batch& batch, std::span<const Batch::Index> operations);
void read_known_operations(const PGresult* result, Batch& batch);

void queue_outcomes(Connection& connection, std::span<const OutcomeRow> rows, std::int32_t consumer);
// Of those rows that keep their message's bytes.
void queue_bodies(Connection& connection, std::span<const OutcomeRow> rows);
void queue_parked(Connection& connection, std::span<const Parked* const> rows);
void queue_outbox(Connection& connection, std::span<const StagedOutgoing> rows, std::int32_t consumer);
// Where the result of a statement will stand that wrote calls to one endpoint, and how many were staged.
struct CallsWritten {
  std::size_t place;
  Repeats staged;
};
// One statement for each endpoint: the rows that it inserts tell how many of its calls were there before.
std::vector<CallsWritten> queue_calls(Connection& connection, std::span<const StagedCall> rows, std::int32_t consumer);
void queue_cancel(Connection& connection, const Key& call, std::string_view who);
Cancelled read_cancelled(const PGresult* result);

}  // namespace onceward::postgres
