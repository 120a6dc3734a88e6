// The store behind open_sqlite(), for tests that must say which SQLite it believes to be linked with.
#pragma once

#include <memory>

#include "onceward/adapter/sqlite.h"

namespace onceward::sqlite {

// `library_version` as sqlite3_libversion_number() gives it.
std::unique_ptr<Store> open_store(const SqliteOptions& options, int library_version);

}  // namespace onceward::sqlite
