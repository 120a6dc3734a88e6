// A database that an older program has made and used.
#include "adapters/postgres/migrations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "adapters/postgres/schema.h"
#include "onceward/adapter/postgres.h"
#include "tests/fixtures/postgres_database.h"
#include "tests/fixtures/waiting.h"

namespace onceward::postgres {
namespace {

// As version 0.1 wrote it; uuids are padded by the reader's own function.
constexpr const char* used = R"sql(
CREATE FUNCTION u(text) RETURNS uuid LANGUAGE sql AS $$SELECT lpad($1, 32, '0')::uuid$$;
INSERT INTO onceward.consumer (name, scheme, identity) VALUES ('billing', 'hash', '');
INSERT INTO onceward.inbox (key, consumer, payload_hash, tenant, producer, id) VALUES
  (u('1'), 1, '', 'main', 'shop', 'failed'), (u('2'), 1, '', 'main', 'shop', 'done'),
  (u('3'), 1, '', 'main', 'shop', 'operation');
INSERT INTO onceward.inbox_outcome (key, consumer, state, code, result) VALUES
  (u('1'), 1, 6, 'never', ''), (u('3'), 1, 6, 'operation_conflict', '');
INSERT INTO onceward.attempt (key, kind, worker) VALUES (u('1'), 'start', 'worker 1'), (u('1'), 'void', 'worker 1');
)sql";
constexpr const char* parked = R"sql(
INSERT INTO onceward.quarantine (consumer, fingerprint, reason, detail, tenant, producer, id, envelope, payload) VALUES
  (1, lpad('1', 32, '0')::uuid, 'never', '', 'main', 'shop', 'failed', '{}', ''),
  (1, lpad('2', 32, '0')::uuid, 'conflict', '', 'main', 'shop', 'failed', '{}', ''),
  (1, lpad('3', 32, '0')::uuid, 'conflict', '', 'main', 'shop', 'done', '{}', ''),
  (1, lpad('4', 32, '0')::uuid, 'operation_conflict', '', 'main', 'shop', 'operation', '{}', '')
  ON CONFLICT (fingerprint) DO NOTHING)sql";

class PostgresMigrations : public testing::Test {
 protected:
  PostgresMigrations() { migrate(connection_, migrations().first(1)); }

  fixtures::PostgresDatabase database_;
  Connection connection_{PostgresOptions{.url = database_.url()}};
  std::unique_ptr<fixtures::Reader> reader_ = fixtures::read_postgres(database_.url());
};

TEST_F(PostgresMigrations, TablesOfTheFirstStepAreCarriedOver) {
  reader_->run(used);
  reader_->run(parked);
  EXPECT_EQ(schema_status(connection_).pending,
            (std::vector<std::string>{"002 worker", "003 position", "004 relay", "005 dispatch"}));
  EXPECT_EQ(migrate(connection_).version, 5);
  EXPECT_EQ(reader_->read("SELECT key = u('1'), kind, worker, code FROM onceward.attempt ORDER BY number"),
            (fixtures::TextRows{{"t", "start", "worker 1", ""}, {"t", "void", "worker 1", ""}}));
  EXPECT_EQ(
      reader_->read("SELECT fingerprint = u(number::text), key = u('1'), attempts, state FROM onceward.quarantine "
                    "ORDER BY number"),
      (fixtures::TextRows{{"t", "t", "0", "parked"},
                          {"t", std::nullopt, "0", "parked"},
                          {"t", std::nullopt, "0", "parked"},
                          {"t", std::nullopt, "0", "parked"}}));
}

TEST_F(PostgresMigrations, CallsThatWereStagedBeforeTheFifthStepArePlanned) {
  const std::string staged =
      "INSERT INTO onceward.ledger (key, not_before, consumer, request_hash, endpoint, idempotency_key, type, "
      "business_key, tenant, correlation_id, trace_parent, body) VALUES (lpad('{}', 32, '0')::uuid, {}, 1, '', "
      "'gateway', '{}', '', '', '', '', '', 'bytes')";
  migrate(connection_, migrations().first(4));
  reader_->run(fmt::format(fmt::runtime(staged), 1, "NULL", "now"));
  reader_->run(fmt::format(fmt::runtime(staged), 2, "now() + interval '1 hour'", "later"));
  migrate(connection_);
  reader_->run(fmt::format(fmt::runtime(staged), 3, "NULL", "by an old program"));
  EXPECT_EQ(
      reader_->read("SELECT idempotency_key, state, due_at <= now(), due_at >= coalesce(not_before, due_at), attempts "
                    "FROM onceward.ledger ORDER BY key"),
      (fixtures::TextRows{{"now", "planned", "t", "t", "0"},
                          {"later", "planned", "f", "t", "0"},
                          {"by an old program", "planned", "t", "t", "0"}}));
}

TEST_F(PostgresMigrations, ProgramOfTheFirstStepThatStillRunsCanWrite) {
  migrate(connection_);
  reader_->run(parked);
  reader_->run(parked);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward.quarantine WHERE state = 'parked' AND key IS NULL"), 4);
}

// A session that has made the schema before has all of its catalogue in hand, and asks nobody again.
TEST_F(PostgresMigrations, SchemaThatAnotherMakesMeanwhileIsSeen) {
  for (int round = 0; round < 2; ++round) {
    reader_->run("SET client_min_messages = warning; DROP SCHEMA onceward CASCADE");
    EXPECT_EQ(schema_status(connection_).version, 0);
    migrate(connection_, migrations().first(1));
  }
  reader_->run("DROP SCHEMA onceward CASCADE");
  EXPECT_EQ(schema_status(connection_).version, 0);
  const auto other = fixtures::read_postgres(database_.url());
  other->run("BEGIN; SELECT pg_advisory_xact_lock(7954877705826332257); CREATE SCHEMA onceward");
  std::future<SchemaStatus> migrated = std::async(std::launch::async, [&] { return migrate(connection_); });
  fixtures::await("the migration waits", [&] {
    return reader_->number(
               "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'") >
           0;
  });
  other->run("COMMIT");
  const SchemaStatus status = migrated.get();
  EXPECT_EQ(status.version, status.newest);
}

}  // namespace
}  // namespace onceward::postgres
