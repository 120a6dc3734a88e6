#include "adapters/sqlite/schema.h"

#include <gtest/gtest.h>

#include "tests/fixtures/messages.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward::sqlite {
namespace {

using fixtures::fault_of;

constexpr Migration first_step{1, "one", "CREATE TABLE a (x); CREATE TABLE b (x);"};
constexpr Migration second_step{2, "two", "ALTER TABLE a ADD COLUMN y; INSERT INTO b VALUES (1);"};
constexpr Migration broken{2, "broken", "INSERT INTO b VALUES (1); INSERT INTO nowhere VALUES (1);"};

class SqliteSchemas : public testing::Test {
 protected:
  fixtures::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/store.db";
  Connection connection_{{.path = path_}, sqlite3_libversion_number()};
};

TEST_F(SqliteSchemas, StepsAreAppliedOnceAndInOrder) {
  const std::array<Migration, 1> old{first_step};
  const std::array<Migration, 2> now{first_step, second_step};
  EXPECT_EQ(migrate(connection_, old).version, 1);
  const SchemaStatus between = schema_status(connection_, now);
  EXPECT_EQ(between.newest, 2);
  EXPECT_EQ(between.pending, std::vector<std::string>{"002 two"});
  EXPECT_EQ(fault_of([&] { check_schema(connection_, now); }), FaultCode::schema_missing);
  EXPECT_EQ(migrate(connection_, now).version, 2);
  EXPECT_EQ(migrate(connection_, now).version, 2);
  EXPECT_EQ(fixtures::read_sqlite(path_)->number("SELECT count(*) FROM b"), 1);
  check_schema(connection_, now);
}

TEST_F(SqliteSchemas, StepThatFailsLeavesNothing) {
  const std::array<Migration, 2> bad{first_step, broken};
  const std::array<Migration, 2> mended{first_step, second_step};
  EXPECT_EQ(fault_of([&] { migrate(connection_, bad); }), FaultCode::statement_failed);
  EXPECT_EQ(fixtures::read_sqlite(path_)->number("SELECT count(*) FROM b"), 0);
  EXPECT_EQ(migrate(connection_, mended).version, 2);
}

TEST_F(SqliteSchemas, OlderProgramIsRefusedByNewerTables) {
  const std::array<Migration, 1> old{first_step};
  const std::array<Migration, 2> now{first_step, second_step};
  migrate(connection_, now);
  EXPECT_EQ(fault_of([&] { migrate(connection_, old); }), FaultCode::schema_newer);
  EXPECT_EQ(fault_of([&] { check_schema(connection_, old); }), FaultCode::schema_newer);
}

// The names that both stores share are what operators and other tools know.
TEST_F(SqliteSchemas, TablesAreThoseOfTheDesign) {
  migrate(connection_);
  EXPECT_EQ(
      fixtures::read_sqlite(path_)->value("SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema "
                                          "WHERE type = 'table' AND name LIKE 'onceward%' ORDER BY name)"),
      "onceward_attempt onceward_audit onceward_consumer onceward_inbox onceward_inbox_body "
      "onceward_inbox_outcome onceward_ingress onceward_ledger onceward_ledger_attempt onceward_migration onceward_operation "
      "onceward_outbox onceward_outbox_fact onceward_outbox_waiting onceward_position onceward_quarantine "
      "onceward_relay_member onceward_relay_move onceward_relay_paused onceward_relay_slot");
}

}  // namespace
}  // namespace onceward::sqlite
