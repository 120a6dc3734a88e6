// What the linked SQLite and the file system under a database allow.
#pragma once

#include <string>

namespace onceward::sqlite {

// Versions 3.7.0 to 3.51.2 can lose committed pages when several connections write and checkpoint one WAL database
// (https://sqlite.org/wal.html#walresetbug). `number` as sqlite3_libversion_number() gives it.
constexpr bool has_wal_reset_bug(int number) { return number >= 3'007'000 && number <= 3'051'002; }

// "3.53.4"
std::string version_text(int number);

// WAL keeps its index in memory that all processes on one machine share: over a network file system it corrupts.
// `magic` is statfs's f_type.
bool is_network_file_system(long magic);

// Throws Fault(store_refused) where no database can be kept at `path`: no directory, a network file system.
void check_place(const std::string& path);

}  // namespace onceward::sqlite
