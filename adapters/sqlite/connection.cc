#include "adapters/sqlite/connection.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include "adapters/sqlite/library.h"

namespace onceward::sqlite {
namespace {

constexpr int steps_between_looks = 100'000;  // of the virtual machine: some milliseconds
constexpr std::string_view begin_sql = "BEGIN IMMEDIATE";
constexpr std::string_view begin_reading_sql = "BEGIN";
constexpr std::string_view commit_sql = "COMMIT";
constexpr std::string_view roll_back_sql = "ROLLBACK";

constexpr int cache_kibibytes = 24 * 1024;  // so that a worker, all in all, stays below 64 MB; more was no faster

// Nobody writes it, and nobody can through this path: then SQLite needs, and could have, no files beside it.
bool is_at_rest(const std::string& path) {
  std::error_code error;
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const bool may_have_files = ::access(directory.empty() ? "." : directory.c_str(), W_OK) == 0;
  return !may_have_files && ::access(path.c_str(), W_OK) != 0 && !std::filesystem::exists(path + "-wal", error);
}

std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool special = c == '?' || c == '#' || c == '%';
    uri += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return uri + "?immutable=1";
}

sqlite3* open_handle(const std::string& path, int flags) {
  sqlite3* handle = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (result != SQLITE_OK) {
    sqlite3_close(handle);
    throw fault_of(result, path);
  }
  return handle;
}

sqlite3* open_handle(const SqliteOptions& options) {
  const std::string& path = options.path;
  check_place(path);
  std::error_code error;
  if (options.open != SqliteOptions::Open::or_create && !std::filesystem::exists(path, error)) {
    throw Fault(
        FaultCode::schema_missing, Poisons::connection,
        fmt::format("there is no database {}; check the path, or make one with `onceward store migrate`", path));
  }
  if (options.open == SqliteOptions::Open::to_read && is_at_rest(path)) {
    return open_handle(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  }
  const int create = options.open == SqliteOptions::Open::or_create ? SQLITE_OPEN_CREATE : 0;
  return open_handle(path, SQLITE_OPEN_READWRITE | create);
}

bool is_busy(int result) { return (result & 0xff) == SQLITE_BUSY; }

// Whoever may not share the file is told soon that it is taken.
std::chrono::milliseconds patience(const SqliteOptions& options, int library_version) {
  constexpr std::chrono::milliseconds soon{2'000};
  return has_wal_reset_bug(library_version) ? std::min(options.busy_deadline, soon) : options.busy_deadline;
}

// Every racer draws from the same short span, however long it has waited: a growing pause would let those who have just
// come overtake those who have waited longest.
void pause_for_lock() {
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<int> microseconds{100, 4'000};
  std::this_thread::sleep_for(std::chrono::microseconds{microseconds(random)});
}

}  // namespace

Connection::Connection(const SqliteOptions& options, int library_version)
    : path_(options.path),
      patience_(patience(options, library_version)),
      bound_(options.statement_deadline),
      handle_(open_handle(options), Close{true}),
      statements_(handle()),
      rows_(handle()) {
  if (options.open == SqliteOptions::Open::to_read) {
    set_up_to_read(has_wal_reset_bug(library_version));
    return;
  }
  if (sqlite3_db_readonly(handle(), "main") == 1) {
    throw Fault(FaultCode::store_read_only, Poisons::connection,
                fmt::format("{} can only be read; check its permissions and the mount it is on", path_));
  }
  const bool alone = has_wal_reset_bug(library_version);
  try {
    set_up(alone);
  } catch (const Fault& fault) {
    if (!alone || fault.fault() != FaultCode::busy) throw;
    throw Fault(
        FaultCode::version_affected, Poisons::connection,
        fmt::format("{} is open elsewhere, and this SQLite ({}) can corrupt a database that several connections "
                    "write: use 3.51.3 or newer, or one store in one process",
                    path_, version_text(library_version)),
        fault.store_code());
  }
  pragma(fmt::format("PRAGMA wal_autocheckpoint={}", std::max(options.wal_autocheckpoint_pages, 1)));
}

Connection::Connection(sqlite3* borrowed)
    : patience_(0), bound_(0), handle_(borrowed, Close{false}), statements_(borrowed), rows_(borrowed) {}

Connection::~Connection() {
  // What failed to write must not write the WAL back into the database on its way out.
  if (!usable_ && handle_.get_deleter().owned) {
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
}

void Connection::set_up(bool alone) {
  sqlite3_busy_handler(handle(), wait_for_lock, this);
  if (alone) pragma("PRAGMA locking_mode=EXCLUSIVE");
  if (const std::string mode = pragma("PRAGMA journal_mode=WAL"); mode != "wal") {
    throw Fault(FaultCode::store_refused, Poisons::connection,
                fmt::format("{} cannot use a write-ahead log (journal_mode is {}); put it on a local disk that shared "
                            "memory works on",
                            path_, mode));
  }
  pragma("PRAGMA synchronous=FULL");
  if (pragma("PRAGMA synchronous") != "2") {
    throw Fault(FaultCode::store_refused, Poisons::connection, "this SQLite does not keep synchronous=FULL");
  }
  pragma(fmt::format("PRAGMA cache_size=-{}", cache_kibibytes));
  pragma("PRAGMA temp_store=MEMORY");
  pragma("PRAGMA foreign_keys=ON");  // a handler cannot, and would expect its constraints to hold
  watch_users();
}

void Connection::watch_users() {
  sqlite3_set_authorizer(handle(), authorize, this);
  sqlite3_progress_handler(handle(), steps_between_looks, is_past_its_bound, this);
}

// Its settings stay as they are: it may be anybody's, and nobody may be able to write it.
void Connection::set_up_to_read(bool alone) {
  sqlite3_busy_handler(handle(), wait_for_lock, this);
  if (alone && sqlite3_db_readonly(handle(), "main") == 0) pragma("PRAGMA locking_mode=EXCLUSIVE");
  try {
    pragma("PRAGMA query_only=ON");
    pragma("PRAGMA schema_version");  // the first look into the file
  } catch (const Fault& fault) {
    if (sqlite3_db_readonly(handle(), "main") == 0 || fault.fault() == FaultCode::store_corrupt) throw;
    throw Fault(
        FaultCode::store_read_only, Poisons::connection,
        fmt::format("{} cannot be written here and was not closed, so that its WAL cannot be read either: close "
                    "it where it is written, or copy it with the files {}-wal and -shm",
                    path_, path_),
        fault.store_code());
  }
  watch_users();
}

// Asked by SQLite now and then while a statement runs; not on the caller's handle.
int Connection::is_past_its_bound(void* self) {
  const auto& connection = *static_cast<const Connection*>(self);
  return connection.users_turn_ && std::chrono::steady_clock::now() > connection.ends_at_;
}

// The first column of the last row, as text; waits while the database is busy.
std::string Connection::pragma(const std::string& text) {
  std::string answer;
  const int result = until_not_busy([&] {
    sqlite3_stmt* statement = nullptr;
    if (const int prepared = sqlite3_prepare_v2(handle(), text.c_str(), -1, &statement, nullptr);
        prepared != SQLITE_OK) {
      return prepared;
    }
    while (sqlite3_step(statement) == SQLITE_ROW) answer = text_at(statement, 0);
    return sqlite3_finalize(statement);
  });
  if (result != SQLITE_OK) throw fault_of(result, path_);
  return answer;
}

// Called by SQLite where a lock is taken and waiting cannot deadlock.
int Connection::wait_for_lock(void* self, int waits) {
  auto& connection = *static_cast<Connection*>(self);
  const auto now = std::chrono::steady_clock::now();
  if (waits == 0) connection.waits_until_ = now + connection.patience_;
  if (now >= connection.waits_until_) return 0;
  pause_for_lock();
  return 1;
}

// Where SQLite does not call wait_for_lock.
template <class Attempt>
int Connection::until_not_busy(Attempt&& attempt) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  for (;;) {
    const int result = attempt();
    if (!is_busy(result) || std::chrono::steady_clock::now() >= deadline) return result;
    pause_for_lock();
  }
}

int Connection::authorize(void* self, int action, const char*, const char*, const char*, const char*) {
  if (!static_cast<const Connection*>(self)->users_turn_) return SQLITE_OK;
  switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
    case SQLITE_PRAGMA:
      return SQLITE_DENY;
    default:
      return SQLITE_OK;
  }
}

void Connection::begin() { begin_with(begin_sql); }
void Connection::begin_reading() { begin_with(begin_reading_sql); }

void Connection::begin_with(std::string_view sql) {
  const OwnerThread::Turn turn(owner_);
  for (const std::string_view ending : {commit_sql, roll_back_sql}) own(ending);  // so that ending cannot throw
  const int result = own(sql).try_run();
  if (result == SQLITE_DONE) return;
  const Fault fault = fault_of(result, path_);
  if (fault.poisons() != Poisons::transaction) abandon();
  throw fault;
}

int Connection::commit() noexcept {
  const OwnerThread::Turn turn(owner_);
  Statement& statement = own(commit_sql);
  return until_not_busy([&] { return statement.try_run(); });
}

void Connection::roll_back() noexcept {
  const OwnerThread::Turn turn(owner_);
  if (!in_transaction()) return;
  if (own(roll_back_sql).try_run() != SQLITE_DONE || in_transaction()) abandon();
}

}  // namespace onceward::sqlite
