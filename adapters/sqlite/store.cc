#include "adapters/sqlite/store.h"

#include <fmt/format.h>

#include <mutex>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/library.h"
#include "adapters/sqlite/schema.h"
#include "adapters/sqlite/session.h"
#include "adapters/sqlite/waiting.h"
#include "src/unit/faults.h"
#include "src/unit/look.h"
#include "src/unit/unit.h"

namespace onceward {
namespace sqlite {
namespace {

class SqliteStore final : public Store {
 public:
  SqliteStore(const SqliteOptions& options, int library_version)
      : options_(options), library_version_(library_version) {
    connect();
  }

  SchemaStatus migrate() override {
    schema_checked_ = false;
    return sqlite::migrate(connected());
  }
  SchemaStatus schema() override { return schema_status(connected()); }
  Enrolled enroll(const Declaration& declaration) override { return sqlite::enroll(ready(), declaration); }

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    Connection& connection = ready();
    connection.begin();
    ++transactions_;
    return std::make_unique<Unit>(std::make_unique<SqliteSession>(connection_, consumer.number), consumer, Owner::us,
                                  on_commit_, on_repeated_calls_);
  }

  std::unique_ptr<Look> look() override {
    ready().begin_reading();
    ++transactions_;
    return std::make_unique<SessionLook>(
        std::make_unique<SqliteSession>(connection_, std::int32_t{0}, SqliteSession::For::reading));
  }

  std::optional<std::chrono::milliseconds> next_due(const Enrolled& consumer) override {
    return sqlite::next_due(ready(), consumer.number);
  }

  void cancel() noexcept override {
    const std::lock_guard lock(cancel_mutex_);
    if (connection_) sqlite3_interrupt(connection_->handle());
  }

  StoreCounters counters() const override {
    return {0, statements_ + (connection_ ? connection_->statements() : 0), transactions_, reconnects_};
  }

  Dialect dialect() const override { return Dialect::sqlite; }
  std::string describe() const override {
    return fmt::format("sqlite:{} (SQLite {}{})", options_.path, version_text(library_version_),
                       has_wal_reset_bug(library_version_) ? ", which has the WAL-reset bug: one connection only" : "");
  }

 private:
  // A file that could not be opened again leaves no connection: the next call tries anew.
  void connect() {
    if (connection_) {
      statements_ += connection_->statements();
      ++reconnects_;
    }
    schema_checked_ = false;
    replace_connection(nullptr);  // first: a store that has the file for itself alone stands in its own way
    replace_connection(std::make_shared<Connection>(options_, library_version_));
  }

  // Whoever cancels must not find it half closed.
  void replace_connection(std::shared_ptr<Connection> next) {
    const std::lock_guard lock(cancel_mutex_);
    connection_ = std::move(next);
  }

  Connection& connected() {
    if (!connection_ || !connection_->usable()) connect();
    if (connection_->in_transaction()) {
      throw unit_still_open();
    }
    return *connection_;
  }

  Connection& ready() {
    Connection& connection = connected();
    if (!schema_checked_) check_schema(connection);
    schema_checked_ = true;
    return connection;
  }

  const SqliteOptions options_;
  const int library_version_;
  std::mutex cancel_mutex_;
  std::shared_ptr<Connection> connection_;  // with the session of the open unit; replaced under cancel_mutex_
  bool schema_checked_ = false;
  std::uint64_t statements_ = 0;  // of connections that are gone
  std::uint64_t transactions_ = 0;
  std::uint64_t reconnects_ = 0;
};

// An affected library is safe only where the caller's handle has the file for itself.
void check_library(Connection& connection) {
  const int version = sqlite3_libversion_number();
  if (!has_wal_reset_bug(version)) return;
  std::string mode;
  connection.own("PRAGMA main.locking_mode").each([&](sqlite3_stmt* row) { mode = text_at(row, 0); });
  if (mode == "exclusive") return;
  throw Fault(FaultCode::version_affected, Poisons::connection,
              fmt::format("SQLite {} can corrupt a database that several connections write: use 3.51.3 or newer, or "
                          "open the handle with PRAGMA locking_mode=EXCLUSIVE",
                          version_text(version)));
}

}  // namespace

std::unique_ptr<Store> open_store(const SqliteOptions& options, int library_version) {
  return std::make_unique<SqliteStore>(options, library_version);
}

}  // namespace sqlite

std::unique_ptr<Store> open_sqlite(const SqliteOptions& options) {
  return sqlite::open_store(options, sqlite3_libversion_number());
}

std::unique_ptr<Enlistment> enlist(sqlite3* handle, const Enrolled& consumer) {
  if (handle == nullptr || sqlite3_get_autocommit(handle) != 0) {
    throw Fault(FaultCode::transaction_failed, Poisons::transaction,
                "enlist wants a handle inside a transaction: run BEGIN IMMEDIATE first");
  }
  auto connection = std::make_shared<sqlite::Connection>(handle);
  sqlite::check_library(*connection);
  sqlite::check_schema(*connection);
  auto session = std::make_unique<sqlite::SqliteSession>(std::move(connection), consumer.number);
  return std::make_unique<Unit>(std::move(session), consumer, Owner::caller);
}

Enrolled enroll(sqlite3* handle, const Declaration& declaration) {
  sqlite::Connection connection(handle);
  sqlite::check_library(connection);
  sqlite::check_schema(connection);
  return sqlite::enroll(connection, declaration);
}

}  // namespace onceward
