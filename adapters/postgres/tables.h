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
void queue_calls(Connection& connection, std::span<const StagedCall> rows, std::int32_t consumer);

}  // namespace onceward::postgres
