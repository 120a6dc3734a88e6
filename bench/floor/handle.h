// sqlite3 by hand: prepared statements, nothing copied. Any error prints itself and aborts.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace onceward::bench {

class Handle {
 public:
  // WAL, synchronous=FULL, and the store's own limit on the log.
  explicit Handle(const std::string& path);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void run(const char* sql) const;
  sqlite3* get() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(const Handle& handle, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Text and bytes are borrowed until the step.
  Statement& bind(int place, std::string_view text) {
    sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    return *this;
  }
  Statement& bind(int place, std::span<const unsigned char> bytes) {
    sqlite3_bind_blob(statement_, place, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    return *this;
  }
  Statement& bind(int place, std::int64_t number) {
    sqlite3_bind_int64(statement_, place, number);
    return *this;
  }
  // True if there is a row. A statement without one is ready to be bound again.
  bool step();
  void reset() { sqlite3_reset(statement_); }
  std::string_view bytes(int column) const {
    return {static_cast<const char*>(sqlite3_column_blob(statement_, column)),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  int columns() const { return sqlite3_column_count(statement_); }

 private:
  sqlite3* handle_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace onceward::bench
