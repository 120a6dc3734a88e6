// Holds the write lock of the SQLite file at argv[1], with something written, until it is killed.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
  sqlite3* handle = nullptr;
  if (argc != 2 || sqlite3_open(argv[1], &handle) != SQLITE_OK) return 2;
  sqlite3_busy_timeout(handle, 10'000);
  if (sqlite3_exec(handle, "BEGIN IMMEDIATE; INSERT INTO effect (message) VALUES ('of the holder')", nullptr, nullptr,
                   nullptr) != SQLITE_OK) {
    return 1;
  }
  std::puts("holding");
  std::fflush(stdout);
  sleep(120);
  return 0;
}
