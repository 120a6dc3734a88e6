#include "adapters/sqlite/session.h"

#include <gtest/gtest.h>

#include "onceward/adapter/sqlite.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward::sqlite {
namespace {

using fixtures::fault_of;
using fixtures::Inbound;

class SqliteSessions : public testing::Test {
 protected:
  void SetUp() override {
    store_->migrate();
    enrolled_ = store_->enroll(declaration_);
    reader_ = fixtures::read_sqlite(path_);
    reader_->run("CREATE TABLE effect (message TEXT UNIQUE)");
  }

  fixtures::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/store.db";
  std::unique_ptr<Store> store_ = open_sqlite({.path = path_});
  Declaration declaration_ = fixtures::consumer();
  Enrolled enrolled_;
  std::unique_ptr<fixtures::Reader> reader_;
};

// SQLite itself undoes only the statement that failed, and would commit the rest.
TEST_F(SqliteSessions, RestOfAUnitIsNotCommittedAfterAFailure) {
  const Inbound inbound(declaration_, {{.id = "a"}});
  auto unit = store_->begin(enrolled_);
  unit->claim(inbound.claimants());
  EXPECT_EQ(unit->whole().execute_counted("INSERT INTO effect VALUES ('a')"), 1);
  EXPECT_EQ(fault_of([&] { unit->whole().execute_counted("INSERT INTO effect VALUES ('a')"); }),
            FaultCode::constraint_violated);
  EXPECT_EQ(fault_of([&] { unit->whole().query("SELECT 1"); }), FaultCode::transaction_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
  EXPECT_EQ(reader_->number("SELECT (SELECT count(*) FROM effect) + (SELECT count(*) FROM onceward_inbox)"), 0);
}

TEST_F(SqliteSessions, RefusedStagingKeepsTheRestFromCommitting) {
  auto unit = store_->begin(enrolled_);
  unit->whole().execute("INSERT INTO effect VALUES ('a')");
  EXPECT_EQ(fault_of([&] { unit->whole().stage(Outgoing{"", "k", "p"}); }), FaultCode::statement_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM effect"), 0);
}

// Not only by their first word: the authorizer sees what SQLite makes of a statement.
TEST_F(SqliteSessions, SettingsCannotBeReachedThroughAQuery) {
  auto unit = store_->begin(enrolled_);
  EXPECT_EQ(fault_of([&] { unit->whole().query("SELECT * FROM pragma_table_info('effect')"); }),
            FaultCode::statement_failed);
  EXPECT_EQ(unit->commit(), Commit::failed);
}

TEST_F(SqliteSessions, ForgettingWorksUntilSomethingWasSent) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}, {.id = "c"}});
  auto unit = store_->begin(enrolled_);
  unit->claim(inbound.claimants());
  for (std::size_t i = 0; i < 3; ++i) {
    unit->on(i).execute("INSERT INTO effect VALUES ($1)", inbound.envelope(i).message_id());
    unit->on(i).stage(Outgoing{"t", "k", "p"});
  }
  EXPECT_TRUE(unit->forget(1));
  unit->finish(1, Failed{"threw"});
  unit->on(2).query("SELECT 1");
  EXPECT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(reader_->value("SELECT group_concat(message, '') FROM effect"), "ac");
  EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward_outbox"), 2);
}

TEST_F(SqliteSessions, FlushedWorkIsWrittenOnceAndMayBeFollowedByMore) {
  const Inbound inbound(declaration_, {{.id = "a"}, {.id = "b"}});
  auto unit = store_->begin(enrolled_);
  unit->claim(inbound.claimants());
  unit->finish(0, Failed{"broken"});
  unit->on(1).stage(Outgoing{"t", "k", "p"});
  unit->flush();
  unit->on(1).stage(Outgoing{"t", "k", "p"});
  EXPECT_EQ(unit->commit(), Commit::committed);
  EXPECT_EQ(reader_->number("SELECT count(DISTINCT id) FROM onceward_outbox"), 2);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward_inbox_outcome"), 1);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM onceward_quarantine"), 1);
}

TEST_F(SqliteSessions, OutcomeAfterTheFlushIsRefused) {
  const Inbound inbound(declaration_, {{.id = "a"}});
  auto unit = store_->begin(enrolled_);
  unit->claim(inbound.claimants());
  unit->flush();
  EXPECT_EQ(fault_of([&] { unit->finish(0, Failed{"late"}); }), FaultCode::statement_failed);
}

TEST_F(SqliteSessions, DeferredConstraintIsReportedByTheCommitAndNothingRemains) {
  auto unit = store_->begin(enrolled_);
  unit.reset();
  reader_->run("CREATE TABLE parent (id INTEGER PRIMARY KEY)");
  reader_->run("CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
  sqlite3* handle = nullptr;
  sqlite3_open(path_.c_str(), &handle);
  auto sql = fixtures::read_through(handle);
  sql->run("PRAGMA foreign_keys = ON");
  // The store leaves foreign keys as they are, which is off; a caller's handle may have them on.
  sql->run("BEGIN IMMEDIATE");
  auto enlistment = enlist(handle, enrolled_);
  enlistment->whole().execute("INSERT INTO child VALUES (1)");
  enlistment->flush();
  enlistment.reset();
  EXPECT_THROW(sql->run("COMMIT"), std::runtime_error);
  sql->run("ROLLBACK");
  sqlite3_close(handle);
  EXPECT_EQ(reader_->number("SELECT count(*) FROM child"), 0);
}

TEST_F(SqliteSessions, InsertOnceTakesAStatementAsPeopleWriteIt) {
  auto unit = store_->begin(enrolled_);
  const char* const sql = "INSERT INTO effect (message) VALUES ($1) ; -- once\n";
  EXPECT_EQ(unit->whole().insert_once("INSERT INTO effect (message) VALUES ($1);\n", "a"), Inserted::inserted);
  EXPECT_EQ(unit->whole().insert_once("INSERT INTO effect (message) VALUES ($1) -- once", "a"), Inserted::already);
  EXPECT_EQ(fault_of([&] { unit->whole().insert_once(sql, "b"); }), FaultCode::statement_failed);
}

TEST_F(SqliteSessions, RetryWaitsFromTheTransactionsTimeOn) {
  const Inbound inbound(declaration_, {{.id = "a"}});
  transact(*store_, enrolled_, {}, [&](UnitOfWork& unit) {
    unit.claim(inbound.claimants());
    unit.finish(0, Retry{"later", std::chrono::milliseconds(1500)});
  });
  EXPECT_EQ(reader_->number("SELECT next_attempt_at - recorded_at FROM onceward_inbox_outcome"), 1'500'000);
  EXPECT_EQ(reader_->number("SELECT abs(recorded_at / 1000000 - unixepoch()) < 60 FROM onceward_inbox_outcome"), 1);
}

}  // namespace
}  // namespace onceward::sqlite
