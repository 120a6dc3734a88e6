#include "adapters/postgres/session.h"

#include <gtest/gtest.h>

#include <array>

#include "adapters/postgres/schema.h"
#include "onceward/adapter/postgres.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/postgres_database.h"

namespace onceward::postgres {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary

class PostgresSessions : public testing::Test {
 protected:
  PostgresDatabase database_;
  std::unique_ptr<Reader> reader_ = read_postgres(database_.url());
  std::unique_ptr<Store> store_ = [this] {
    PostgresOptions options;
    options.url = database_.url();
    return open_postgres(options);
  }();
};

TEST_F(PostgresSessions, FailingStatementsAreNotPreparedAgainAndAgain) {
  store_->migrate();
  const Enrolled enrolled = store_->enroll(consumer());
  reader_->run("CREATE TABLE t (a integer PRIMARY KEY)");
  for (int turn = 0; turn < 5; ++turn) {
    auto unit = store_->begin(enrolled);
    unit->whole().execute("INSERT INTO t VALUES ($1), ($1)", 1);
    EXPECT_EQ(fixtures::fault_of([&] { unit->commit(); }), FaultCode::constraint_violated);
  }
  auto unit = store_->begin(enrolled);
  const Rows rows =
      unit->whole().query("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO t %'");
  EXPECT_EQ(rows[0][0], Datum(std::int64_t{1}));
}

TEST_F(PostgresSessions, WhatAFunctionRaisesIsNotQuoted) {
  store_->migrate();
  const Enrolled enrolled = store_->enroll(consumer());
  reader_->run("CREATE FUNCTION refuse() RETURNS void LANGUAGE plpgsql AS $$BEGIN RAISE 'card 4111'; END$$");
  auto unit = store_->begin(enrolled);
  try {
    unit->whole().query("SELECT refuse()");
    FAIL() << "it raises";
  } catch (const Fault& fault) {
    EXPECT_EQ(std::string(fault.what()).find("4111"), std::string::npos) << fault.what();
  }
}

TEST_F(PostgresSessions, CommitsAreDurableWhateverTheDefaultIs) {
  reader_->run("ALTER DATABASE " + database_.name() + " SET synchronous_commit = off");
  PostgresOptions options;
  options.url = database_.url();
  const auto store = open_postgres(options);
  store->migrate();
  auto unit = store->begin(store->enroll(consumer()));
  EXPECT_EQ(unit->whole().query("SHOW synchronous_commit"), (Rows{{std::string("on")}}));
}

TEST_F(PostgresSessions, MigrationThatBreaksOffLeavesTheStepsBeforeItAndGoesOnFromThere) {
  PostgresOptions options;
  options.url = database_.url();
  Connection connection(options);
  const Migration one{1, "one", "CREATE TABLE onceward.a (b integer)"};
  const Migration broken{2, "two", "CREATE TABLE onceward.c (d integer); SELECT 1/0"};
  const Migration two{2, "two", "CREATE TABLE onceward.c (d integer)"};
  EXPECT_THROW(migrate(connection, std::array{one, broken}), Fault);
  EXPECT_EQ(schema_status(connection, std::array{one, two}).version, 1);
  EXPECT_EQ(reader_->value("SELECT to_regclass('onceward.c') IS NULL"), "t");
  EXPECT_EQ(migrate(connection, std::array{one, two}).version, 2);
  EXPECT_EQ(fixtures::fault_of([&] { check_schema(connection, std::array{one}); }), FaultCode::schema_newer);
}

}  // namespace
}  // namespace onceward::postgres
