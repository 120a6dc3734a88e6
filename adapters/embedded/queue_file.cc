#include "adapters/embedded/queue_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "adapters/embedded/options.h"
#include "adapters/sqlite/library.h"

namespace onceward::embedded {
namespace {

constexpr const char* tables = R"sql(
CREATE TABLE queue (
  number    INTEGER PRIMARY KEY AUTOINCREMENT,
  name      TEXT NOT NULL UNIQUE,
  published INTEGER NOT NULL,
  handed    INTEGER NOT NULL
) STRICT;
CREATE TABLE message (
  position INTEGER PRIMARY KEY,
  body     BLOB NOT NULL
) STRICT;
CREATE TABLE delivery (
  queue      INTEGER NOT NULL,
  due_at     INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  deliveries INTEGER NOT NULL,
  PRIMARY KEY (queue, due_at, position)
) STRICT, WITHOUT ROWID;
)sql";

void execute(sqlite3* handle, const std::string& sql) {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw sqlite::fault_of(handle, sqlite::During::prepare);
  }
}

int number(sqlite3* handle, std::string_view sql) {
  std::uint64_t executed = 0;
  int answer = 0;
  sqlite::Statement(handle, sql, executed).each([&](sqlite3_stmt* row) { answer = sqlite3_column_int(row, 0); });
  return answer;
}

// Whether the file holds our tables; false where it holds nothing at all. Throws where it is somebody else's.
bool has_tables(sqlite3* handle, const std::string& path) {
  const int application = number(handle, "PRAGMA application_id");
  if (application == 0 && number(handle, "SELECT count(*) FROM sqlite_schema") == 0) return false;
  if (application != file_application) {
    throw refused(fmt::format(
        "{} is a database, but not a queue of Onceward's; name another file, which is created if it does not exist",
        path));
  }
  const int version = number(handle, "PRAGMA user_version");
  if (version == file_version) return true;
  throw refused(
      fmt::format("{} is a queue of version {}, and this program knows version {}; use the program that made it, or "
                  "empty it there and begin a new file",
                  path, version, file_version));
}

// Opening for use turns a file into one with a write-ahead log: somebody else's is told before, and left as it is. What
// cannot be read here is left to the opening, which knows how to wait and what to say.
void look_before_opening(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> handle(opened, &sqlite3_close);
  if (result != SQLITE_OK || sqlite3_db_readonly(opened, "main") != 0) return;
  sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  try {
    has_tables(opened, path);
  } catch (const Fault& fault) {
    if (fault.fault() == FaultCode::source_refused) throw;
  }
}

SqliteOptions checked(const EmbeddedOptions& options) {
  look_before_opening(options.path);
  // The log is written back after 16 MB: rows of a queue are short-lived, and a longer log only grows.
  return {.path = options.path, .busy_deadline = options.busy_deadline, .wal_autocheckpoint_pages = 4'000};
}

sqlite::Connection open(const EmbeddedOptions& options) {
  try {
    return sqlite::Connection(checked(options), sqlite3_libversion_number());
  } catch (const Fault& fault) {
    throw as_source_fault(fault, options.path);
  }
}

}  // namespace

Fault as_source_fault(const Fault& fault, const std::string& path) {
  switch (fault.fault()) {
    case FaultCode::source_refused:
    case FaultCode::source_unavailable:
      return fault;
    case FaultCode::busy:
    case FaultCode::lost_race:
    case FaultCode::store_full:
    case FaultCode::store_unavailable:
      return {FaultCode::source_unavailable, Poisons::connection, fmt::format("embedded:{}: {}", path, fault.what()),
              fault.store_code()};
    default:
      return {FaultCode::source_refused, Poisons::connection, fmt::format("embedded:{}: {}", path, fault.what()),
              fault.store_code()};
  }
}

QueueFile::QueueFile(const EmbeddedOptions& options) : path_(options.path), connection_(open(options)) {
  bool there = false;
  read([&] {
    there = has_tables(connection_.handle(), path_);
    execute(connection_.handle(), "PRAGMA cache_size=-8192");  // 8 MB: a page of a queue is seldom read twice
  });
  if (!there) create_tables();
}

void QueueFile::create_tables() {
  write([&] {
    if (has_tables(connection_.handle(), path_)) return;  // somebody else was faster
    execute(connection_.handle(), tables);
    execute(connection_.handle(), fmt::format("PRAGMA application_id={}", file_application));
    execute(connection_.handle(), fmt::format("PRAGMA user_version={}", file_version));
  });
}

void QueueFile::commit() {
  if (const int result = connection_.commit(); result != SQLITE_DONE) throw sqlite::fault_of(result);
}

Fault QueueFile::failed(const Fault& fault) {
  if (fault.poisons() != Poisons::transaction) connection_.abandon();
  return as_source_fault(fault, path_);
}

}  // namespace onceward::embedded
