#include "adapters/postgres/waiting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "src/common/limits.h"
#include "src/quarantine/kept_envelope.h"

namespace onceward::postgres {
namespace {

// A whole number of any width.
std::int64_t number_at(const PGresult* result, int row, int column) {
  std::int64_t number = 0;
  for (const char byte : bytes_at(result, row, column)) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

Column one(Type type, const auto& value) {
  Column column("", type);
  column.add(value);
  return column;
}

}  // namespace

void queue_attempts(Connection& connection, std::span<const AttemptRow> rows) {
  if (rows.empty()) return;
  Column key("key", uuid_type, Column::Shape::always_array), kind("kind", text_type), code("code", text_type);
  for (const AttemptRow& row : rows) {
    key.add(row.message);
    kind.add(kind_of(row.attempt));
    code.add(row.code);
  }
  const SetInsert insert = set_insert("attempt", {&key, &kind, &code});
  connection.queue(insert.sql, insert.parameters);
}

void queue_used(Connection& connection, std::span<const Key> messages) {
  static const std::string sql =
      fmt::format("SELECT {} FROM unnest($1::uuid[]) WITH ORDINALITY AS asked (key, place) ORDER BY place",
                  fmt::format(fmt::runtime(used_attempts), "asked.key"));
  Column key("key", uuid_type, Column::Shape::always_array);
  for (const Key& message : messages) key.add(message);
  connection.queue(sql, std::array{key.parameter()});
}

std::vector<int> read_used(const PGresult* result) {
  std::vector<int> used;
  for (int row = 0; row < PQntuples(result); ++row) used.push_back(static_cast<int>(number_at(result, row, 0)));
  return used;
}

// Whoever has taken them is to be done when the lease ends; until then state 2 keeps them from the next. The length of what
// is stored out of line is known without reading it.
void queue_take_due(Connection& connection, std::int32_t consumer, std::size_t most, std::chrono::milliseconds lease) {
  static const std::string sql = fmt::format(
      "WITH due AS (SELECT o.key, o.next_attempt_at AS at, octet_length(b.payload) AS bytes "
      "FROM onceward.inbox_outcome o JOIN onceward.inbox_body b USING (key) "
      "WHERE o.consumer = $1 AND o.state = 5 AND o.next_attempt_at <= statement_timestamp() "
      "ORDER BY o.next_attempt_at LIMIT $3 FOR UPDATE OF o SKIP LOCKED), "
      "summed AS (SELECT key, sum(bytes) OVER (ORDER BY at, key) - bytes AS before FROM due), "
      "taken AS (UPDATE onceward.inbox_outcome o SET state = 2, recorded_at = statement_timestamp(), "
      "next_attempt_at = statement_timestamp() + $2 * interval '1 millisecond' "
      "FROM summed WHERE o.key = summed.key AND summed.before < $4 RETURNING o.key) "
      "SELECT b.key, 0::bigint, {}, b.envelope, b.payload FROM taken JOIN onceward.inbox_body b USING (key)",
      fmt::format(fmt::runtime(used_attempts), "b.key"));
  Column number = one(int4_type, std::int64_t{consumer}), milliseconds = one(int8_type, std::int64_t{lease.count()}),
         limit = one(int8_type, static_cast<std::int64_t>(most)),
         bytes = one(int8_type, static_cast<std::int64_t>(most_bytes_together));
  connection.queue(sql, std::array{number.parameter(), milliseconds.parameter(), limit.parameter(), bytes.parameter()});
}

// The statement's time is the server's, and as one that does not change inside the statement it can be looked for in the
// indexes. Of the two that are locked the older one is taken; the other is free again when this transaction ends.
void queue_start_due(Connection& connection, std::int32_t consumer, std::chrono::milliseconds lease) {
  static const std::string sql = fmt::format(
      "WITH waiting AS (SELECT o.key, o.next_attempt_at AS due FROM onceward.inbox_outcome o "
      "JOIN onceward.inbox_body b USING (key) WHERE o.consumer = $1 AND o.state IN (2, 5) "
      "AND o.next_attempt_at <= statement_timestamp() ORDER BY o.next_attempt_at LIMIT 1 FOR UPDATE OF o SKIP LOCKED), "
      "sent_again AS (SELECT number, retry_at AS due FROM onceward.quarantine WHERE consumer = $1 AND "
      "state = 'retrying' AND key IS NULL AND retry_at <= statement_timestamp() ORDER BY retry_at LIMIT 1 "
      "FOR UPDATE SKIP LOCKED), "
      "oldest AS (SELECT key, NULL::bigint AS number, due FROM waiting UNION ALL "
      "SELECT NULL, number, due FROM sent_again ORDER BY due LIMIT 1), "
      "leased AS (UPDATE onceward.inbox_outcome o "
      "SET state = 2, recorded_at = statement_timestamp(), "
      "next_attempt_at = statement_timestamp() + $2 * interval '1 millisecond' "
      "FROM oldest WHERE o.key = oldest.key RETURNING o.key), "
      "started AS (INSERT INTO onceward.attempt (key, kind) SELECT key, 'start' FROM leased), "
      "leased_again AS (UPDATE onceward.quarantine q "
      "SET retry_at = statement_timestamp() + $2 * interval '1 millisecond', attempts = q.attempts + 1 "
      "FROM oldest WHERE q.number = oldest.number RETURNING q.number, q.attempts, q.envelope, q.payload) "
      "SELECT b.key, 0::bigint, {} + 1, b.envelope, b.payload FROM leased JOIN onceward.inbox_body b USING (key) "
      "UNION ALL SELECT NULL, number, attempts, envelope, payload FROM leased_again",
      fmt::format(fmt::runtime(used_attempts), "b.key"));
  Column number = one(int4_type, std::int64_t{consumer}), milliseconds = one(int8_type, std::int64_t{lease.count()});
  connection.queue(sql, std::array{number.parameter(), milliseconds.parameter()});
}

std::vector<Kept> read_due(const PGresult* result) {
  std::vector<Kept> due;
  for (int row = 0; row < PQntuples(result); ++row) {
    Kept& kept = due.emplace_back(Kept{read_kept(bytes_at(result, row, 3), bytes_at(result, row, 4)), std::nullopt,
                                       number_at(result, row, 1), static_cast<int>(number_at(result, row, 2))});
    if (PQgetisnull(result, row, 0)) continue;
    std::memcpy(kept.key.emplace().bytes.data(), PQgetvalue(result, row, 0), sizeof(Key::bytes));
  }
  return due;
}

void queue_next_due(Connection& connection, std::int32_t consumer) {
  Column number = one(int4_type, std::int64_t{consumer});
  connection.queue(
      "SELECT ceil(1000 * extract(epoch FROM least("
      "(SELECT o.next_attempt_at FROM onceward.inbox_outcome o JOIN onceward.inbox_body b USING (key) "
      "WHERE o.consumer = $1 AND o.state IN (2, 5) AND o.next_attempt_at IS NOT NULL ORDER BY o.next_attempt_at LIMIT 1), "
      "(SELECT retry_at FROM onceward.quarantine WHERE consumer = $1 AND state = 'retrying' AND key IS NULL AND "
      "retry_at IS NOT NULL ORDER BY retry_at LIMIT 1)) - clock_timestamp()))::bigint",
      std::array{number.parameter()});
}

std::optional<std::chrono::milliseconds> read_next_due(const PGresult* result) {
  if (PQgetisnull(result, 0, 0)) return std::nullopt;
  return std::max(std::chrono::milliseconds(0), std::chrono::milliseconds(number_at(result, 0, 0)));
}

void queue_resume(Connection& connection, const Batch& batch) {
  Column key("key", uuid_type, Column::Shape::always_array);
  for (const Batch::Index index : batch.to_claim()) key.add(batch.claimants()[index].key);
  connection.queue(
      "SELECT key FROM onceward.inbox_outcome WHERE key = ANY ($1) AND state IN (2, 5) ORDER BY key "
      "FOR UPDATE SKIP LOCKED",
      std::array{key.parameter()});
}

void queue_replacement(Connection& connection, const OutcomeRow& row) {
  Column key = one(uuid_type, row.claimant->key);
  if (row.recorded == Recorded{}) {
    connection.queue("DELETE FROM onceward.inbox_outcome WHERE key = $1", std::array{key.parameter()});
  } else {
    Column state = one(int2_type, static_cast<std::int64_t>(row.recorded.state)),
           code = one(text_type, row.recorded.code), result = one(bytea_type, row.recorded.result), next("", int8_type);
    row.retry_after ? next.add(std::int64_t{row.retry_after->count()}) : next.add_null();
    connection.queue(
        "UPDATE onceward.inbox_outcome SET state = $2, code = $3, result = $4, "
        "next_attempt_at = now() + $5 * interval '1 millisecond', recorded_at = now() WHERE key = $1",
        parameters_of({&key, &state, &code, &result, &next}));
  }
  if (!row.keeps_body()) {
    connection.queue("DELETE FROM onceward.inbox_body WHERE key = $1", std::array{key.parameter()});
  }
  if (!row.retry_after) {
    connection.queue(
        "UPDATE onceward.quarantine SET state = 'resolved', retry_at = NULL WHERE key = $1 AND "
        "state = 'retrying'",
        std::array{key.parameter()});
  }
}

void queue_resolved(Connection& connection, std::span<const std::int64_t> numbers) {
  if (numbers.empty()) return;
  Column number("number", int8_type, Column::Shape::always_array);
  for (const std::int64_t each : numbers) number.add(each);
  connection.queue(
      "UPDATE onceward.quarantine SET state = 'resolved', retry_at = NULL WHERE number = ANY ($1) AND "
      "state = 'retrying'",
      std::array{number.parameter()});
}

}  // namespace onceward::postgres
