#include "adapters/sqlite/schema.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "src/inbox/enrolment.h"

namespace onceward::sqlite {
namespace {

constexpr std::string_view find_table =
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'onceward_migration'";
constexpr std::string_view read_version = "SELECT coalesce(max(number), 0) FROM onceward_migration";
constexpr std::string_view insert_version =
    "INSERT INTO onceward_migration (number, name, applied_at) VALUES (?1, ?2, ?3)";
constexpr std::string_view find_consumer = "SELECT number, identity FROM onceward_consumer WHERE name = ?1";
constexpr std::string_view insert_consumer =
    "INSERT INTO onceward_consumer (name, scheme, identity, enrolled_at) VALUES (?1, ?2, ?3, ?4)";

int version_of(Connection& connection) {
  bool there = false;
  int version = 0;
  connection.own(find_table).each([&](sqlite3_stmt*) { there = true; });
  if (!there) return 0;
  connection.own(read_version).each([&](sqlite3_stmt* row) { version = sqlite3_column_int(row, 0); });
  return version;
}

void execute_all(Connection& connection, std::string_view sql) {
  if (sqlite3_exec(connection.handle(), std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw fault_of(connection.handle(), During::prepare);
  }
}

void apply(Connection& connection, const Migration& step) {
  execute_all(connection,
              "CREATE TABLE IF NOT EXISTS onceward_migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
              "applied_at INTEGER NOT NULL) STRICT");
  if (version_of(connection) >= step.number) return;
  execute_all(connection, step.sql);
  Statement& record = connection.own(insert_version);
  record.bind(1, std::int64_t{step.number});
  record.bind(2, step.name);
  record.bind(3, now_microseconds());
  record.run();
}

// Runs `work` in a transaction of its own.
template <class Work>
void in_transaction(Connection& connection, Work&& work) {
  connection.begin();
  try {
    work();
    if (const int result = connection.commit(); result != SQLITE_DONE) throw fault_of(result);
  } catch (const Fault& fault) {
    if (fault.poisons() != Poisons::transaction) connection.abandon();
    connection.roll_back();
    throw;
  }
}

struct KnownConsumer {
  std::int32_t number;
  std::string identity;
};

std::optional<KnownConsumer> known_consumer(Connection& connection, std::string_view name) {
  std::optional<KnownConsumer> known;
  Statement& find = connection.own(find_consumer);
  find.bind(1, name);
  find.each(
      [&](sqlite3_stmt* row) { known = KnownConsumer{sqlite3_column_int(row, 0), std::string(text_at(row, 1))}; });
  return known;
}

void add_consumer(Connection& connection, const Declaration& declaration, std::string_view identity) {
  Statement& insert = connection.own(insert_consumer);
  insert.bind(1, declaration.name);
  insert.bind(2, stored_name(declaration.identity.scheme));
  insert.bind(3, identity);
  insert.bind(4, now_microseconds());
  insert.run();
}

}  // namespace

std::int64_t now_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

SchemaStatus schema_status(Connection& connection, std::span<const Migration> steps) {
  return status_of(version_of(connection), steps);
}

SchemaStatus migrate(Connection& connection, std::span<const Migration> steps) {
  refuse_newer(version_of(connection), steps);
  for (const Migration& step : steps) {
    if (version_of(connection) >= step.number) continue;
    in_transaction(connection, [&] { apply(connection, step); });
  }
  return schema_status(connection, steps);
}

void check_schema(Connection& connection, std::span<const Migration> steps) {
  require_current(version_of(connection), steps);
}

Enrolled enroll(Connection& connection, const Declaration& declaration) {
  const std::string identity = identity_text(declaration.identity, declaration.offsets);
  auto known = known_consumer(connection, declaration.name);
  if (!known) {
    const auto add = [&] {
      known = known_consumer(connection, declaration.name);
      if (known) return;
      add_consumer(connection, declaration, identity);
      known = known_consumer(connection, declaration.name);
    };
    connection.in_transaction() ? add() : in_transaction(connection, add);
  }
  if (known->identity != identity) throw identity_changed(declaration.name, known->identity, identity);
  return {known->number, declaration.name, declaration.identity.scheme, declaration.offsets, declaration.dead_letters};
}

}  // namespace onceward::sqlite
