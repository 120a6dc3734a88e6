#include "adapters/sqlite/statement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "adapters/sqlite/connection.h"
#include "tests/fixtures/messages.h"

namespace onceward::sqlite {
namespace {

using fixtures::fault_of;

class Statements : public testing::Test {
 protected:
  Statements() {
    sqlite3_open(":memory:", &handle_);
    run("CREATE TABLE t (a UNIQUE, b)");
  }
  ~Statements() override { sqlite3_close(handle_); }

  std::int64_t run(std::string_view sql, std::initializer_list<Value> values = {}) {
    Statement statement(handle_, sql, executed_);
    statement.bind_values({values.begin(), values.size()});
    return statement.run();
  }
  std::vector<Datum> row(std::string_view sql, std::initializer_list<Value> values = {}) {
    Statement statement(handle_, sql, executed_);
    statement.bind_values({values.begin(), values.size()});
    std::vector<Datum> data;
    statement.each([&](sqlite3_stmt* found) {
      for (int i = 0; i < sqlite3_column_count(found); ++i) data.push_back(datum_at(found, i));
    });
    return data;
  }
  FaultCode refused(std::string_view sql, std::initializer_list<Value> values = {}) {
    return fault_of([&] { run(sql, values); });
  }

  sqlite3* handle_ = nullptr;
  std::uint64_t executed_ = 0;
};

TEST_F(Statements, NumberedParametersMayStandInAnyOrderAndRepeat) {
  EXPECT_EQ(row("SELECT $2, $1, $2", {"one", 2}), (std::vector<Datum>{2, std::string("one"), 2}));
}

TEST_F(Statements, ParametersAndValuesMustAgree) {
  EXPECT_EQ(refused("SELECT $1", {}), FaultCode::statement_failed);
  EXPECT_EQ(refused("SELECT $1", {1, 2}), FaultCode::statement_failed);
  EXPECT_EQ(refused("SELECT $2", {1, 2}), FaultCode::statement_failed);
  EXPECT_EQ(refused("SELECT ?", {1}), FaultCode::statement_failed);
  EXPECT_EQ(refused("SELECT :name", {1}), FaultCode::statement_failed);
  EXPECT_EQ(refused("SELECT $1::text", {1}), FaultCode::statement_failed);
}

TEST_F(Statements, EmptyTextAndBytesAreNotNull) {
  EXPECT_EQ(row("SELECT $1, $2, $3", {std::string_view(), Blob{}, nullptr}),
            (std::vector<Datum>{std::string(), OwnedBlob{}, std::monostate{}}));
}

TEST_F(Statements, WhatSqliteWouldStoreAsSomethingElseIsRefused) {
  EXPECT_EQ(refused("SELECT $1", {std::nan("")}), FaultCode::statement_failed);
  EXPECT_EQ(refused("SELECT $1", {std::string_view("a\0b", 3)}), FaultCode::statement_failed);
  EXPECT_EQ(refused("SELECT $1", {"\xff"}), FaultCode::statement_failed);
}

TEST_F(Statements, SeveralInOneTextAreRefusedAndNoneHasRun) {
  EXPECT_EQ(refused("INSERT INTO t VALUES (1, 1); INSERT INTO t VALUES (2, 2)"), FaultCode::statement_failed);
  EXPECT_EQ(refused("  -- nothing"), FaultCode::statement_failed);
  EXPECT_EQ(row("SELECT count(*) FROM t"), std::vector<Datum>{0});
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 1); -- the end\n ;"), 1);
}

TEST_F(Statements, ChangesAreThoseOfTheStatementItself) {
  run("CREATE TABLE log (a)");
  run("CREATE TRIGGER logged AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1), (2); END");
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)"), 3);
  EXPECT_EQ(run("INSERT INTO t VALUES (1, 1) ON CONFLICT DO NOTHING"), 0);
  EXPECT_EQ(run("UPDATE t SET b = 0 WHERE a > 1"), 2);
  EXPECT_EQ(run("CREATE TABLE other (a)"), 0);
  EXPECT_EQ(run("SELECT * FROM t"), 3);
}

TEST_F(Statements, FaultsNameTablesAndNeverValues) {
  run("INSERT INTO t VALUES ('secret', 1)");
  try {
    run("INSERT INTO t VALUES ($1, 2)", {"secret"});
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::constraint_violated);
    EXPECT_EQ(fault.store_code(), std::to_string(SQLITE_CONSTRAINT_UNIQUE));
    EXPECT_NE(std::string(fault.what()).find("t.a"), std::string::npos) << fault.what();
    EXPECT_EQ(std::string(fault.what()).find("secret"), std::string::npos) << fault.what();
  }
  try {
    run("SELECT json_extract('{}', $1)", {"secret"});  // SQLite's own message repeats the path
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::statement_failed);
    EXPECT_EQ(std::string(fault.what()).find("secret"), std::string::npos) << fault.what();
  }
  try {
    run("SELECT * FROM nowhere");
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_NE(std::string(fault.what()).find("nowhere"), std::string::npos) << fault.what();
  }
}

TEST_F(Statements, RunsAgainAfterAFailure) {
  Statement statement(handle_, "INSERT INTO t VALUES ($1, 1)", executed_);
  const std::array one{Value(1)}, two{Value(2)};
  statement.bind_values(one);
  statement.run();
  EXPECT_EQ(fault_of([&] { statement.run(); }), FaultCode::constraint_violated);
  statement.bind_values(two);
  EXPECT_EQ(statement.run(), 1);
}

}  // namespace
}  // namespace onceward::sqlite
