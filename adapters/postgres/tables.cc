#include "adapters/postgres/tables.h"

#include "adapters/postgres/waiting.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "src/quarantine/kept_envelope.h"
#include "src/unit/faults.h"

namespace onceward::postgres {
namespace {

Key key_at(const PGresult* result, int row, int column) {
  Key key;
  std::memcpy(key.bytes.data(), PQgetvalue(result, row, column), key.bytes.size());
  return key;
}

PayloadHash hash_at(const PGresult* result, int row, int column) {
  PayloadHash hash;
  const std::string_view bytes = bytes_at(result, row, column);
  std::memcpy(hash.bytes.data(), bytes.data(), std::min(bytes.size(), hash.bytes.size()));
  return hash;
}

// state, code, result, original from `column` on; no outcome row means processed.
Recorded recorded_at(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column)) return {};
  const auto* const state = reinterpret_cast<const unsigned char*>(PQgetvalue(result, row, column));
  Recorded recorded{static_cast<State>(state[0] << 8 | state[1]), std::string(bytes_at(result, row, column + 1)),
                    std::string(bytes_at(result, row, column + 2)), std::nullopt};
  if (!PQgetisnull(result, row, column + 3)) recorded.original = key_at(result, row, column + 3);
  return recorded;
}

// While only one row is written no column needs to be an array.
Column::Shape shape(std::size_t rows) {
  return rows == 1 ? Column::Shape::may_be_uniform : Column::Shape::always_array;
}

void queue_insert(Connection& connection, std::string_view table, const std::vector<Column*>& columns,
                  std::string_view ending = {}) {
  SetInsert insert = set_insert(table, columns);
  connection.queue(insert.sql.append(ending), insert.parameters);
}

}  // namespace

namespace {

// `claimant_of` each of `all`, into the inbox.
template <class All, class ClaimantOf>
void queue_messages(Connection& connection, const All& all, std::int32_t consumer, std::string_view ending,
                    ClaimantOf&& claimant_of) {
  Column key("key", uuid_type, shape(all.size())), number("consumer", int4_type), hash("payload_hash", bytea_type),
      tenant("tenant", text_type), producer("producer", text_type), id("id", text_type);
  for (const auto& one : all) {
    const Claimant& claimant = claimant_of(one);
    key.add(claimant.key);
    number.add(std::int64_t{consumer});
    hash.add(claimant.payload_hash);
    tenant.add(claimant.tenant.text());
    producer.add(claimant.producer.text());
    id.add(claimant.id.text());
  }
  queue_insert(connection, "inbox", {&key, &number, &hash, &tenant, &producer, &id}, ending);
}

}  // namespace

void queue_claim(Connection& connection, const Batch& batch, std::int32_t consumer) {
  queue_messages(connection, batch.to_claim(), consumer, " ON CONFLICT (key) DO NOTHING RETURNING key",
                 [&](Batch::Index index) -> const Claimant& { return batch.claimants()[index]; });
}

void queue_unseen(Connection& connection, std::span<const OutcomeRow> rows, std::int32_t consumer) {
  if (rows.empty()) return;
  queue_messages(connection, rows, consumer, {},
                 [](const OutcomeRow& row) -> const Claimant& { return *row.claimant; });
}

void read_claimed(const PGresult* result, Batch& batch) {
  for (int row = 0; row < PQntuples(result); ++row) batch.claimed(key_at(result, row, 0));
}

void queue_operations(Connection& connection, const Batch& batch, std::span<const Batch::Index> operations,
                      std::int32_t consumer) {
  Column key("key", uuid_type, shape(operations.size())), number("consumer", int4_type), message("message", uuid_type),
      hash("payload_hash", bytea_type), text("text", text_type);
  for (const Batch::Index index : operations) {
    const Claimant& claimant = batch.claimants()[index];
    key.add(claimant.operation->key);
    number.add(std::int64_t{consumer});
    message.add(claimant.key);
    hash.add(claimant.payload_hash);
    text.add(std::string_view(claimant.operation->text));
  }
  queue_insert(connection, "operation", {&key, &number, &message, &hash, &text},
               " ON CONFLICT (key) DO NOTHING RETURNING key");
}

void read_operations(const PGresult* result, Batch& batch) {
  for (int row = 0; row < PQntuples(result); ++row) batch.operation_claimed(key_at(result, row, 0));
}

void queue_look_up(Connection& connection, const Batch& batch, std::span<const Batch::Index> messages) {
  Column key("key", uuid_type, Column::Shape::always_array);
  for (const Batch::Index index : messages) key.add(batch.claimants()[index].key);
  connection.queue(
      "SELECT i.key, i.tenant, i.producer, i.id, i.payload_hash, o.state, o.code, o.result, o.original "
      "FROM (SELECT unnest($1::uuid[]) AS key) k JOIN onceward.inbox i USING (key) "
      "LEFT JOIN onceward.inbox_outcome o USING (key)",
      std::array{key.parameter()});
}

void read_known(const PGresult* result, Batch& batch) {
  for (int row = 0; row < PQntuples(result); ++row) {
    batch.known(key_at(result, row, 0), {bytes_at(result, row, 1), bytes_at(result, row, 2), bytes_at(result, row, 3),
                                         hash_at(result, row, 4), recorded_at(result, row, 5)});
  }
}

void queue_operation_look_up(Connection& connection, const Batch& batch, std::span<const Batch::Index> operations) {
  Column key("key", uuid_type, Column::Shape::always_array);
  for (const Batch::Index index : operations) key.add(batch.claimants()[index].operation->key);
  connection.queue(
      "SELECT p.key, p.text, p.message, p.payload_hash, o.state, o.code, o.result, o.original "
      "FROM (SELECT unnest($1::uuid[]) AS key) k JOIN onceward.operation p USING (key) "
      "LEFT JOIN onceward.inbox_outcome o ON o.key = p.message",
      std::array{key.parameter()});
}

void read_known_operations(const PGresult* result, Batch& batch) {
  for (int row = 0; row < PQntuples(result); ++row) {
    batch.known_operation(key_at(result, row, 0), {std::string(bytes_at(result, row, 1)), key_at(result, row, 2),
                                                   hash_at(result, row, 3), recorded_at(result, row, 4)});
  }
}

void queue_outcomes(Connection& connection, std::span<const OutcomeRow> rows, std::int32_t consumer) {
  if (rows.empty()) return;
  Column key("key", uuid_type, shape(rows.size())), number("consumer", int4_type), state("state", int2_type),
      code("code", text_type), result("result", bytea_type), original("original", uuid_type),
      next("next_attempt_at", int8_type, "now() + {} * interval '1 millisecond'");
  for (const OutcomeRow& row : rows) {
    key.add(row.claimant->key);
    number.add(std::int64_t{consumer});
    state.add(static_cast<std::int64_t>(row.recorded.state));
    code.add(row.recorded.code);
    result.add(row.recorded.result);
    original.add(row.recorded.original);
    row.retry_after ? next.add(std::int64_t{row.retry_after->count()}) : next.add_null();
  }
  queue_insert(connection, "inbox_outcome", {&key, &number, &state, &code, &result, &original, &next});
}

void queue_bodies(Connection& connection, std::span<const OutcomeRow> rows) {
  Column key("key", uuid_type, Column::Shape::always_array), envelope("envelope", text_type),
      payload("payload", bytea_type);
  for (const OutcomeRow& row : rows) {
    if (!row.keeps_body()) continue;
    key.add(row.claimant->key);
    envelope.add(kept_envelope(*row.claimant->envelope));
    payload.add(row.claimant->envelope->payload());
  }
  if (key.size() > 0) queue_insert(connection, "inbox_body", {&key, &envelope, &payload});
}

// Each once, in key order: two batches that park the same messages wait for each other instead of deadlocking.
void queue_parked(Connection& connection, std::span<const Parked* const> parked) {
  if (parked.empty()) return;
  std::vector<const Parked*> rows(parked.begin(), parked.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto* a, const auto* b) { return a->fingerprint < b->fingerprint; });
  const auto same = [](const Parked* a, const Parked* b) { return a->fingerprint == b->fingerprint; };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
  Column fingerprint("fingerprint", uuid_type, shape(rows.size())), consumer("consumer", int4_type),
      reason("reason", text_type), detail("detail", text_type), tenant("tenant", text_type),
      producer("producer", text_type), id("id", text_type), envelope("envelope", text_type),
      payload("payload", bytea_type), key("key", uuid_type), attempts("attempts", uuid_type, used_attempts);
  for (const Parked* const row : rows) {
    fingerprint.add(row->fingerprint);
    consumer.add(std::int64_t{row->consumer});
    reason.add(row->reason);
    detail.add(row->detail);
    tenant.add(row->tenant);
    producer.add(row->producer);
    id.add(row->id);
    envelope.add(row->envelope);
    payload.add(row->payload);
    key.add(row->key);
    attempts.add(row->key);
  }
  queue_insert(
      connection, "quarantine",
      {&fingerprint, &consumer, &reason, &detail, &tenant, &producer, &id, &envelope, &payload, &key, &attempts},
      " ON CONFLICT (fingerprint) DO UPDATE SET state = 'parked', parked_at = excluded.parked_at, "
      "detail = excluded.detail, key = coalesce(excluded.key, quarantine.key), retry_at = NULL, "
      "attempts = CASE WHEN excluded.key IS NULL THEN quarantine.attempts ELSE excluded.attempts END "
      "WHERE quarantine.state <> 'parked'");
}

void queue_outbox(Connection& connection, std::span<const StagedOutgoing> rows, std::int32_t consumer) {
  if (rows.empty()) return;
  Column id("id", text_type, shape(rows.size())), number("consumer", int4_type), cause("cause", uuid_type),
      aggregate_version("aggregate_version", int8_type), event_version("event_version", int8_type),
      type("type", text_type), key("key", text_type), tenant("tenant", text_type),
      aggregate_type("aggregate_type", text_type), aggregate_id("aggregate_id", text_type),
      correlation("correlation_id", text_type), causation("causation_id", text_type), trace("trace_parent", text_type),
      content_type("content_type", text_type), headers("headers", text_type), payload("payload", bytea_type);
  Column fact("fact", uuid_type, Column::Shape::always_array), fact_id("id", text_type, Column::Shape::always_array);
  for (const StagedOutgoing& row : rows) {
    const Outgoing& message = row.message;
    id.add(message.id);
    number.add(std::int64_t{consumer});
    row.cause == no_cause ? cause.add_null() : cause.add(row.cause_key);
    aggregate_version.add(message.aggregate_version);
    event_version.add(message.event_version);
    type.add(message.type);
    key.add(message.key);
    tenant.add(row.tenant);
    aggregate_type.add(message.aggregate_type);
    aggregate_id.add(message.aggregate_id);
    correlation.add(row.correlation_id);
    causation.add(row.causation_id);
    trace.add(row.trace_parent);
    content_type.add(message.content_type);
    headers.add(row.headers_json);
    payload.add(message.payload);
    if (message.unique_fact) {
      fact.add(row.fact);
      fact_id.add(message.id);
    }
  }
  queue_insert(connection, "outbox",
               {&id, &number, &cause, &aggregate_version, &event_version, &type, &key, &tenant, &aggregate_type,
                &aggregate_id, &correlation, &causation, &trace, &content_type, &headers, &payload});
  // Insertion in key order: two batches that stage the same facts wait for each other instead of deadlocking.
  if (fact.size() > 0) {
    connection.queue(
        "INSERT INTO onceward.outbox_fact (fact, id) SELECT * FROM (SELECT unnest($1::uuid[]) AS fact, "
        "unnest($2::text[]) AS id) staged ORDER BY fact",
        parameters_of({&fact, &fact_id}));
  }
}

namespace {

// Each intent once, by endpoint and in key order.
std::vector<const StagedCall*> distinct_calls(std::span<const StagedCall> rows) {
  std::vector<const StagedCall*> calls;
  for (const StagedCall& row : rows) calls.push_back(&row);
  std::stable_sort(calls.begin(), calls.end(), [](const auto* a, const auto* b) {
    return std::tie(a->call.endpoint, a->key) < std::tie(b->call.endpoint, b->key);
  });
  const auto same = [](const StagedCall* a, const StagedCall* b) {
    if (a->key == b->key && a->request_hash != b->request_hash) throw call_conflict();
    return a->key == b->key;
  };
  calls.erase(std::unique(calls.begin(), calls.end(), same), calls.end());
  return calls;
}

// A second intent under one key is the same intent. With other content it sets a column that may not be null to null,
// which ends the transaction in the same round trip and is told apart by its constraint.
void queue_calls_of_one(Connection& connection, std::span<const StagedCall* const> calls, std::int32_t consumer) {
  Column key("key", uuid_type, shape(calls.size())), not_before("not_before", timestamptz_type),
      number("consumer", int4_type), cause("cause", uuid_type), hash("request_hash", bytea_type),
      endpoint("endpoint", text_type), idempotency_key("idempotency_key", text_type), type("type", text_type),
      business_key("business_key", text_type), tenant("tenant", text_type), correlation("correlation_id", text_type),
      trace("trace_parent", text_type), body("body", bytea_type), state("state", text_type),
      due("due_at", timestamptz_type, "greatest(now(), {})"), asker("requested_by", text_type);
  for (const StagedCall* row : calls) {
    key.add(row->key);
    not_before.add(row->call.not_before);
    number.add(std::int64_t{consumer});
    row->cause == no_cause ? cause.add_null() : cause.add(row->cause_key);
    hash.add(row->request_hash);
    endpoint.add(row->call.endpoint);
    idempotency_key.add(row->call.key);
    type.add(row->call.type);
    business_key.add(row->call.business_key);
    tenant.add(row->tenant);
    correlation.add(row->correlation_id);
    trace.add(row->trace_parent);
    body.add(row->call.body);
    state.add(row->call.approval ? std::string_view("waiting") : std::string_view("planned"));
    due.add(row->call.not_before);
    asker.add(row->call.requested_by);
  }
  queue_insert(connection, "ledger",
               {&key, &not_before, &number, &cause, &hash, &endpoint, &idempotency_key, &type, &business_key, &tenant,
                &correlation, &trace, &body, &state, &due, &asker},
               " ON CONFLICT (key) DO UPDATE SET request_hash = NULL "
               "WHERE ledger.request_hash <> excluded.request_hash");
}

}  // namespace

std::vector<CallsWritten> queue_calls(Connection& connection, std::span<const StagedCall> rows, std::int32_t consumer) {
  const std::vector<const StagedCall*> calls = distinct_calls(rows);
  std::vector<CallsWritten> written;
  for (auto begin = calls.begin(); begin != calls.end();) {
    const std::string_view endpoint = (*begin)->call.endpoint;
    const auto is_its = [&](const StagedCall* call) { return call->call.endpoint == endpoint; };
    const auto end = std::find_if_not(begin, calls.end(), is_its);
    const auto staged = std::ranges::count_if(rows, [&](const StagedCall& row) { return is_its(&row); });
    written.push_back({connection.queued(), {std::string(endpoint), static_cast<std::uint64_t>(staged)}});
    queue_calls_of_one(connection, {begin, end}, consumer);
    begin = end;
  }
  return written;
}

// The look at the row sees it as it was before.
void queue_cancel(Connection& connection, const Key& call, std::string_view who) {
  Column key("key", uuid_type), name("who", text_type);
  key.add(call);
  name.add(who);
  connection.queue(
      "WITH ended AS (UPDATE onceward.ledger SET state = 'cancelled', due_at = NULL, ended_at = now(), code = "
      "'cancelled', detail = '', decided_by = $2::text WHERE key = $1::uuid AND state IN ('planned', 'waiting', "
      "'approved') RETURNING key) SELECT CASE WHEN EXISTS (SELECT FROM ended) THEN 'cancelled' ELSE (SELECT state FROM "
      "onceward.ledger WHERE key = $1::uuid) END",
      parameters_of({&key, &name}));
}

Cancelled read_cancelled(const PGresult* result) {
  if (PQgetisnull(result, 0, 0)) return Cancelled::not_found;
  return bytes_at(result, 0, 0) == "cancelled" ? Cancelled::cancelled : Cancelled::too_late;
}

}  // namespace onceward::postgres
