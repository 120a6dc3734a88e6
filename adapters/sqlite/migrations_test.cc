// A database that an older program has made and used.
#include "adapters/sqlite/migrations.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "adapters/sqlite/schema.h"
#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward::sqlite {
namespace {

// As version 0.1 wrote it.
constexpr const char* used = R"sql(
INSERT INTO onceward_consumer (name, scheme, identity, enrolled_at) VALUES ('billing', 'hash', '', 1);
INSERT INTO onceward_inbox VALUES (x'01', 1, 1, x'', 'main', 'shop', 'failed'), (x'02', 1, 1, x'', 'main', 'shop', 'done'),
  (x'03', 1, 1, x'', 'main', 'shop', 'operation');
INSERT INTO onceward_inbox_outcome VALUES (x'01', 1, 6, 'never', x'', NULL, NULL, 1),
  (x'03', 1, 6, 'operation_conflict', x'', NULL, NULL, 1);
INSERT INTO onceward_attempt VALUES (x'01', 1, 'start', 'worker 1'), (x'01', 2, 'void', 'worker 1');
)sql";
constexpr const char* parked = R"sql(
INSERT INTO onceward_quarantine (parked_at, consumer, fingerprint, reason, detail, tenant, producer, id, envelope, payload)
VALUES (1, 1, x'01', 'never', '', 'main', 'shop', 'failed', '{}', x'00'),
       (1, 1, x'02', 'conflict', '', 'main', 'shop', 'failed', '{}', x'00'),
       (1, 1, x'03', 'conflict', '', 'main', 'shop', 'done', '{}', x'00'),
       (1, 1, x'04', 'operation_conflict', '', 'main', 'shop', 'operation', '{}', x'00')
       ON CONFLICT (fingerprint) DO NOTHING)sql";

class SqliteMigrations : public testing::Test {
 protected:
  SqliteMigrations() { migrate(connection_, migrations().first(1)); }

  fixtures::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/store.db";
  Connection connection_{{.path = path_}, sqlite3_libversion_number()};
  std::unique_ptr<fixtures::Reader> reader_ = fixtures::read_sqlite(path_);
};

TEST_F(SqliteMigrations, TablesOfTheFirstStepAreCarriedOver) {
  reader_->run(used);
  reader_->run(parked);
  EXPECT_EQ(schema_status(connection_).pending,
            (std::vector<std::string>{"002 worker", "003 position", "004 relay", "005 dispatch"}));
  EXPECT_EQ(migrate(connection_).version, 5);
  EXPECT_EQ(reader_->read("SELECT hex(key), kind, worker, code FROM onceward_attempt ORDER BY number"),
            (fixtures::TextRows{{"01", "start", "worker 1", ""}, {"01", "void", "worker 1", ""}}));
  EXPECT_EQ(
      reader_->read("SELECT hex(fingerprint), hex(key), attempts, state FROM onceward_quarantine ORDER BY number"),
      (fixtures::TextRows{{"01", "01", "0", "parked"},
                          {"02", "", "0", "parked"},
                          {"03", "", "0", "parked"},
                          {"04", "", "0", "parked"}}));
}

TEST_F(SqliteMigrations, CallsThatWereStagedBeforeTheFifthStepArePlanned) {
  const std::string staged =
      "INSERT INTO onceward_ledger (key, created_at, not_before, consumer, request_hash, endpoint, idempotency_key, type, "
      "business_key, tenant, correlation_id, trace_parent, body) VALUES (x'0{}', 5, {}, 1, x'', 'gateway', '{}', '', '', "
      "'', '', '', x'01')";
  migrate(connection_, migrations().first(4));
  reader_->run(fmt::format(fmt::runtime(staged), 1, "NULL", "now"));
  reader_->run(fmt::format(fmt::runtime(staged), 2, "77", "later"));
  migrate(connection_);
  reader_->run(fmt::format(fmt::runtime(staged), 3, "NULL", "by an old program"));
  EXPECT_EQ(
      reader_->read("SELECT idempotency_key, state, due_at, attempts, hex(body) FROM onceward_ledger ORDER BY key"),
      (fixtures::TextRows{{"now", "planned", "5", "0", "01"},
                          {"later", "planned", "77", "0", "01"},
                          {"by an old program", "planned", "0", "0", "01"}}));
}

TEST_F(SqliteMigrations, ProgramOfTheFirstStepThatStillRunsCanWrite) {
  migrate(connection_);
  reader_->run(parked);
  reader_->run(parked);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward_quarantine WHERE state = 'parked' AND key IS NULL"), 4);
}

}  // namespace
}  // namespace onceward::sqlite
