#include "bench/floor/handle.h"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/work/sqlite_database.h"

namespace onceward::bench {
namespace {

[[noreturn]] void fail(sqlite3* handle, const char* sql) {
  fmt::print(stderr, "floor: {}: {}\n", sql, sqlite3_errmsg(handle));
  std::abort();
}

}  // namespace

Handle::Handle(const std::string& path) {
  if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) fail(handle_, "open");
  sqlite3_busy_timeout(handle_, 60'000);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = FULL");
  run("PRAGMA cache_size = -24576");
  run(fmt::format("PRAGMA wal_autocheckpoint = {}", wal_autocheckpoint_pages).c_str());
}

Handle::~Handle() { sqlite3_close(handle_); }

void Handle::run(const char* sql) const {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(handle_, sql);
}

Statement::Statement(const Handle& handle, const std::string& sql) : handle_(handle.get()) {
  if (sqlite3_prepare_v3(handle_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) != SQLITE_OK) {
    fail(handle_, sql.c_str());
  }
}

Statement::~Statement() { sqlite3_finalize(statement_); }

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(handle_, sqlite3_sql(statement_));
  sqlite3_reset(statement_);
  return false;
}

}  // namespace onceward::bench
