// A prepared statement. Values are bound by reference: what they point to must stand until the statement has run.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "adapters/sqlite/faults.h"
#include "onceward/transaction.h"

namespace onceward::sqlite {

class Statement {
 public:
  // One statement, in `sql`, without anything behind it. `executed` is counted up by each run. Both outlive this.
  Statement(sqlite3* handle, std::string_view sql, std::uint64_t& executed);

  // By the parameter's place, from 1: for our own statements, whose parameters are ?1, ?2...
  void bind(int at, std::int64_t value) { check(sqlite3_bind_int64(get(), at, value)); }
  void bind(int at, double value) { check(sqlite3_bind_double(get(), at, value)); }
  void bind(int at, std::string_view text) {
    check(sqlite3_bind_text64(get(), at, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  void bind(int at, Blob blob) {
    const std::string_view bytes = blob.bytes;
    check(sqlite3_bind_blob64(get(), at, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_STATIC));
  }
  void bind(int at, const Key& key) { check(sqlite3_bind_blob64(get(), at, key.bytes.data(), 16, SQLITE_STATIC)); }
  void bind(int at, const PayloadHash& hash) {
    check(sqlite3_bind_blob64(get(), at, hash.bytes.data(), 32, SQLITE_STATIC));
  }
  void bind_null(int at) { check(sqlite3_bind_null(get(), at)); }

  // A user's values, in the order of $1, $2...: throws Fault where there are more or fewer than parameters.
  void bind_values(std::span<const Value> values);

  // Runs to the end. The rows that it changed, by itself and not by triggers; of a query the rows that it found.
  std::int64_t run();
  // Runs and gives each row to `row`, which reads its columns from get().
  template <class Row>
  void each(Row&& row) {
    ++executed_;
    const Resetting resetting{get()};
    while (step()) row(get());
  }
  // The same until `row` answers false.
  template <class Row>
  void each_while(Row&& row) {
    ++executed_;
    const Resetting resetting{get()};
    while (step() && row(get())) {
    }
  }
  // Runs to the end without throwing: SQLite's own answer.
  int try_run() noexcept;

  sqlite3_stmt* get() const { return statement_.get(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  struct Resetting {
    sqlite3_stmt* statement;
    ~Resetting() { sqlite3_reset(statement); }
  };

  bool step();
  void check(int result) {
    if (result != SQLITE_OK) throw fault_of(result);
  }
  void map_parameters();

  sqlite3* handle_;
  std::uint64_t& executed_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool query_;
  bool mapped_ = false;
  std::vector<int> place_of_;  // of $1, $2... among SQLite's parameters
};

// The columns of a row, by place from 0. Borrowed until the next step.
std::string_view text_at(sqlite3_stmt* row, int column);
std::string_view bytes_at(sqlite3_stmt* row, int column);
Datum datum_at(sqlite3_stmt* row, int column);

}  // namespace onceward::sqlite
