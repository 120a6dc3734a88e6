#include "adapters/postgres/schema.h"

#include <fmt/format.h>

#include <charconv>

#include "src/inbox/enrolment.h"

namespace onceward::postgres {
namespace {

// Held for one step's transaction; two processes that migrate take turns. A number of our own choosing. The look at a table
// lets the session hear what was committed while it waited: a schema that it had found missing before would else be missing
// still, and be made a second time.
constexpr std::string_view lock_migrations =
    "SELECT pg_advisory_xact_lock(7954877705826332257);\nSELECT FROM pg_catalog.pg_namespace WHERE false";

Parameter text(std::string_view value) { return {text_type.element, value.data(), static_cast<int>(value.size()), 1}; }

std::int32_t number_at(const PGresult* result, int row, int column) {
  const std::string_view digits = PQgetvalue(result, row, column);
  std::int32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

Result one(Connection& connection, std::string_view sql, std::span<const Parameter> parameters = {}) {
  connection.queue(sql, parameters, Whose::ours, Connection::Format::text);
  return std::move(connection.sync().back());
}

int applied_version(Connection& connection) {
  const Result there = one(connection, "SELECT to_regclass('onceward.migration') IS NOT NULL");
  if (PQgetvalue(there.get(), 0, 0)[0] != 't') return 0;
  return number_at(one(connection, "SELECT coalesce(max(number), 0) FROM onceward.migration").get(), 0, 0);
}

// A step and its row in the table of steps commit together, so a crash leaves either both or none.
void apply(Connection& connection, const Migration& step) {
  const std::string script = fmt::format(
      "BEGIN ISOLATION LEVEL READ COMMITTED;\n{};\n"
      "CREATE SCHEMA IF NOT EXISTS onceward;\n"
      "CREATE TABLE IF NOT EXISTS onceward.migration (number integer PRIMARY KEY, name text NOT NULL, "
      "applied_at timestamptz NOT NULL DEFAULT now());\n",
      lock_migrations);
  try {
    connection.run_script(script);
    if (applied_version(connection) < step.number) {
      connection.run_script(std::string(step.sql));
      connection.run_script(
          fmt::format("INSERT INTO onceward.migration (number, name) VALUES ({}, '{}')", step.number, step.name));
    }
    connection.run_script("COMMIT");
  } catch (const Fault&) {
    if (connection.usable()) connection.run_script("ROLLBACK");
    throw;
  }
}

}  // namespace

SchemaStatus schema_status(Connection& connection, std::span<const Migration> steps) {
  return status_of(applied_version(connection), steps);
}

void check_schema(Connection& connection, std::span<const Migration> steps) {
  require_current(applied_version(connection), steps);
}

SchemaStatus migrate(Connection& connection, std::span<const Migration> steps) {
  const int version = applied_version(connection);
  refuse_newer(version, steps);
  for (const Migration& step : steps) {
    if (step.number > version) apply(connection, step);
  }
  return schema_status(connection, steps);
}

Enrolled enroll(Connection& connection, const Declaration& declaration) {
  const std::string scheme(stored_name(declaration.identity.scheme));
  const std::string identity = identity_text(declaration.identity, declaration.offsets);
  one(connection,
      "INSERT INTO onceward.consumer (name, scheme, identity) SELECT $1, $2, $3 "
      "WHERE NOT EXISTS (SELECT FROM onceward.consumer WHERE name = $1) ON CONFLICT DO NOTHING",
      std::array{text(declaration.name), text(scheme), text(identity)});
  const Result row = one(connection, "SELECT number, identity FROM onceward.consumer WHERE name = $1",
                         std::array{text(declaration.name)});
  if (PQntuples(row.get()) == 0) {
    throw Fault(FaultCode::lost_race, Poisons::transaction, "the consumer was enrolled by a transaction we cannot see");
  }
  if (PQgetvalue(row.get(), 0, 1) != identity) {
    throw identity_changed(declaration.name, PQgetvalue(row.get(), 0, 1), identity);
  }
  return {number_at(row.get(), 0, 0), declaration.name, declaration.identity.scheme, declaration.offsets,
          declaration.dead_letters};
}

}  // namespace onceward::postgres
