// A database file of our own in a directory of our own, made anew before each run and removed at the end.
#pragma once

#include <memory>
#include <string>

#include "bench/work/database.h"

namespace onceward::bench {

// The same for the floor and for the store.
inline constexpr int wal_autocheckpoint_pages = 16'000;

class SqliteDatabase : public Database {
 public:
  virtual const std::string& path() const = 0;
};

// Under `parent`, or under the system's directory for temporary files.
std::unique_ptr<SqliteDatabase> sqlite_database(const std::string& parent = {});

}  // namespace onceward::bench
