// Rows in memory that a statement reads as the table onceward_rows, with columns c0, c1...: the set-wise way to write
// on SQLite. A table-valued virtual table, since a temporary one costs more than twice as much a row.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "onceward/transaction.h"
#include "src/effect/relation.h"

namespace onceward::sqlite {

inline constexpr int most_columns = static_cast<int>(most_relation_columns);

class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual std::size_t size() const = 0;
  // Answers the value with sqlite3_result_*; by reference (SQLITE_STATIC), since rows outlive the statement.
  virtual void column(sqlite3_context* context, std::size_t row, int column) const = 0;
};

// The table on one handle. Registered on the first use, taken off the handle by the destructor.
class RowsTable {
 public:
  explicit RowsTable(sqlite3* handle) : handle_(handle) {}
  ~RowsTable();
  RowsTable(const RowsTable&) = delete;
  RowsTable& operator=(const RowsTable&) = delete;

  // Must have been called before a statement that names the table is prepared.
  void offer();

  // What the table holds while this lives. One at a time.
  class Showing {
   public:
    Showing(RowsTable& table, const RowSource& rows) : table_(table) { table_.shown_ = &rows; }
    ~Showing() { table_.shown_ = nullptr; }
    Showing(const Showing&) = delete;
    Showing& operator=(const Showing&) = delete;

   private:
    RowsTable& table_;
  };

  const RowSource* shown() const { return shown_; }

 private:
  sqlite3* handle_;
  const RowSource* shown_ = nullptr;
  bool offered_ = false;
};

// A user's relation as such rows.
class RelationRows final : public RowSource {
 public:
  // Throws Fault where the relation is not one.
  explicit RelationRows(const Relation& relation) : relation_(relation), size_(checked_rows(relation)) {}
  std::size_t size() const override { return size_; }
  void column(sqlite3_context* context, std::size_t row, int column) const override;
  // `sql` with the relation put before it.
  std::string over(std::string_view sql) const;

 private:
  const Relation& relation_;
  std::size_t size_;
};

void answer(sqlite3_context* context, std::string_view text);
void answer(sqlite3_context* context, Blob blob);
void answer(sqlite3_context* context, const Key& key);

}  // namespace onceward::sqlite
