#include "adapters/sqlite/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>

#include "adapters/sqlite/connection.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward::sqlite {
namespace {

using fixtures::fault_of;
using fixtures::Inbound;
using fixtures::Message;
using namespace std::chrono_literals;

constexpr int affected = 3'040'001;

class SqliteStores : public testing::Test {
 protected:
  std::unique_ptr<Store> open(int version = sqlite3_libversion_number(), std::chrono::milliseconds patience = 30s) {
    return open_store({.path = path_, .busy_deadline = patience}, version);
  }

  fixtures::TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/store.db";
};

TEST_F(SqliteStores, CommitsAreDurableAndTheLogIsWriteAhead) {
  Connection connection({.path = path_, .wal_autocheckpoint_pages = 123}, sqlite3_libversion_number());
  auto reader = fixtures::read_through(connection.handle());
  EXPECT_EQ(reader->value("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(reader->number("PRAGMA synchronous"), 2);
  EXPECT_EQ(reader->number("PRAGMA wal_autocheckpoint"), 123);
  EXPECT_EQ(reader->value("PRAGMA locking_mode"), "normal");
}

TEST_F(SqliteStores, AffectedLibraryGetsTheFileForItselfAlone) {
  auto alone = open(affected);
  alone->migrate();
  EXPECT_NE(alone->describe().find("WAL-reset"), std::string::npos) << alone->describe();
  EXPECT_EQ(fault_of([&] { open(affected, 10ms); }), FaultCode::version_affected);
  // A program with a fixed library is kept out too: it is the file that must not be shared.
  EXPECT_EQ(fault_of([&] { open(sqlite3_libversion_number(), 10ms); }), FaultCode::busy);
  alone.reset();
  open(affected)->schema();
}

TEST_F(SqliteStores, AffectedLibraryIsRefusedAFileThatIsInUse) {
  auto other = open();
  other->migrate();
  EXPECT_EQ(fault_of([&] { open(affected, 10ms); }), FaultCode::version_affected);
}

TEST_F(SqliteStores, FixedLibraryNeedsNoNotice) {
  EXPECT_EQ(open()->describe(), "sqlite:" + path_ + " (SQLite " + sqlite3_libversion() + ")");
}

TEST_F(SqliteStores, OneUnitAtATime) {
  auto store = open();
  store->migrate();
  const Enrolled enrolled = store->enroll(fixtures::consumer());
  auto unit = store->begin(enrolled);
  EXPECT_EQ(fault_of([&] { store->begin(enrolled); }), FaultCode::transaction_failed);
  EXPECT_EQ(fault_of([&] { store->enroll(fixtures::consumer("other")); }), FaultCode::transaction_failed);
  EXPECT_EQ(unit->commit(), Commit::committed);
  store->begin(enrolled);
}

TEST_F(SqliteStores, CountsWhatItDid) {
  auto store = open();
  store->migrate();
  const Enrolled enrolled = store->enroll(fixtures::consumer());
  const StoreCounters before = store->counters();
  const Inbound inbound(fixtures::consumer(), {{.id = "a"}, {.id = "b"}});
  transact(*store, enrolled, {}, [&](UnitOfWork& unit) {
    unit.claim(inbound.claimants());
    for (std::size_t i = 0; i < 2; ++i) unit.on(i).stage(Outgoing{"t", "k", "p"});
  });
  const StoreCounters after = store->counters();
  EXPECT_EQ(after.transactions - before.transactions, 1u);
  EXPECT_EQ(after.statements - before.statements, 5u);  // BEGIN, two claims, one outbox statement, COMMIT
  EXPECT_EQ(after.round_trips, 0u);
}

TEST_F(SqliteStores, PositionsOfTheOutboxAreNeverUsedAgain) {
  auto store = open();
  store->migrate();
  const auto stage = [&] {
    transact(*store, {}, {}, [](UnitOfWork& unit) { unit.whole().stage(Outgoing{"t", "k", "p"}); });
  };
  auto reader = fixtures::read_sqlite(path_);
  stage();
  const std::int64_t first = reader->number("SELECT max(position) FROM onceward_outbox");
  reader->run("DELETE FROM onceward_outbox");
  stage();
  EXPECT_GT(reader->number("SELECT max(position) FROM onceward_outbox"), first);
}

// The kernel lets no file of this process grow while it lives.
class FilesMayNotGrow {
 public:
  FilesMayNotGrow() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit tight{4096, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
  }
  ~FilesMayNotGrow() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FilesMayNotGrow(const FilesMayNotGrow&) = delete;
  FilesMayNotGrow& operator=(const FilesMayNotGrow&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(SqliteStores, FileIsOpenedAgainAfterACommitInDoubt) {
  auto store = open();
  store->migrate();
  const Enrolled enrolled = store->enroll(fixtures::consumer());
  const Inbound inbound(fixtures::consumer(), {Message{}});
  auto unit = store->begin(enrolled);
  unit->claim(inbound.claimants());
  {
    const FilesMayNotGrow tight;
    EXPECT_EQ(unit->commit(), Commit::in_doubt);
  }
  EXPECT_EQ(store->counters().reconnects, 0u);
  auto again = store->begin(enrolled);
  EXPECT_EQ(store->counters().reconnects, 1u);
  again->claim(inbound.claimants());
  EXPECT_TRUE(again->first(0));
  EXPECT_THROW(unit->answers(), Fault) << "nothing is known of it, and the old unit outlives its connection";
}

TEST_F(SqliteStores, CallersHandleKeepsNothingOfOurs) {
  auto store = open();
  store->migrate();
  const Enrolled enrolled = store->enroll(fixtures::consumer());
  const Inbound inbound(fixtures::consumer(), {Message{}});
  sqlite3* handle = nullptr;
  sqlite3_open(path_.c_str(), &handle);
  auto sql = fixtures::read_through(handle);
  sql->run("BEGIN IMMEDIATE");
  auto enlistment = enlist(handle, enrolled);
  enlistment->claim(inbound.claimants());
  const std::array<std::int64_t, 1> numbers{1};
  const std::array<Column, 1> columns{{{"n", numbers}}};
  enlistment->whole().execute_over({"m", columns}, "SELECT n FROM m");
  enlistment->on(0).stage(Outgoing{"t", "k", "p"});
  enlistment->flush();
  enlistment.reset();
  sql->run("COMMIT");
  EXPECT_THROW(sql->read("SELECT * FROM onceward_rows"), std::runtime_error);
  EXPECT_EQ(sqlite3_close(handle), SQLITE_OK) << "a statement of ours is still open";
}

TEST_F(SqliteStores, HandlersOnTheCallersHandleCannotEndItsTransactionEither) {
  auto store = open();
  store->migrate();
  sqlite3* handle = nullptr;
  sqlite3_open(path_.c_str(), &handle);
  auto sql = fixtures::read_through(handle);
  for (const char* const statement : {"COMMIT", "/* x */ rollback", "SAVEPOINT a", "PRAGMA synchronous=OFF"}) {
    sql->run("BEGIN IMMEDIATE");
    auto enlistment = enlist(handle, {});
    EXPECT_EQ(fault_of([&] { enlistment->whole().query(statement); }), FaultCode::statement_failed) << statement;
    enlistment.reset();
    EXPECT_EQ(sqlite3_get_autocommit(handle), 0) << statement;
    sql->run("ROLLBACK");
  }
  sqlite3_close(handle);
}

using SqliteStoresDeathTest = SqliteStores;

TEST_F(SqliteStoresDeathTest, EnlistmentThatIsNotFlushedEndsTheProcess) {
  auto store = open();
  store->migrate();
  EXPECT_DEATH(
      {
        sqlite3* handle = nullptr;
        sqlite3_open(path_.c_str(), &handle);
        sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
        enlist(handle, {})->whole().stage(Outgoing{"t", "k", "p"});
      },
      "call flush\\(\\) before COMMIT");
}

TEST_F(SqliteStores, EnlistmentThatIsUnwoundOrRolledBackMayGoUnflushed) {
  auto store = open();
  store->migrate();
  sqlite3* handle = nullptr;
  sqlite3_open(path_.c_str(), &handle);
  auto sql = fixtures::read_through(handle);
  sql->run("BEGIN IMMEDIATE");
  try {
    auto enlistment = enlist(handle, {});
    enlistment->whole().stage(Outgoing{"t", "k", "p"});
    throw std::runtime_error("the caller's own");
  } catch (const std::runtime_error&) {
    sql->run("ROLLBACK");
  }
  sql->run("BEGIN IMMEDIATE");
  auto enlistment = enlist(handle, {});
  enlistment->whole().stage(Outgoing{"t", "k", "p"});
  sql->run("ROLLBACK");
  enlistment.reset();
  sqlite3_close(handle);
}

}  // namespace
}  // namespace onceward::sqlite
