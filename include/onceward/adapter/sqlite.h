// The SQLite store: tables named onceward_* in the user's own database file.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "onceward/port/store.h"

struct sqlite3;

namespace onceward {

struct SqliteOptions {
  std::string path;
  std::chrono::milliseconds busy_deadline{30'000};       // for the write lock, in jittered steps
  std::chrono::milliseconds statement_deadline{60'000};  // for what a handler has run at once
  int wal_autocheckpoint_pages = 16'000;                 // 64 MB of WAL; larger is faster and slower to recover
  // A file that is not there is made, or it is refused. To read, its settings are left as they are, and it may be one that
  // cannot be written.
  enum class Open { or_create, existing, to_read } open = Open::or_create;
};

// Opens the file: WAL, synchronous=FULL. Throws Fault.
std::unique_ptr<Store> open_sqlite(const SqliteOptions& options);

// Our part in a transaction that the caller has begun (BEGIN IMMEDIATE) on its own handle and will end itself. The
// handle must come from the SQLite library that Onceward is linked with. Call flush() before COMMIT.
std::unique_ptr<Enlistment> enlist(sqlite3* handle, const Enrolled& consumer);
// Makes the consumer known through the caller's handle, inside or outside a transaction.
Enrolled enroll(sqlite3* handle, const Declaration& declaration);

}  // namespace onceward
