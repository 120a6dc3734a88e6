#include "adapters/sqlite/rows.h"

#include <fmt/format.h>

#include <cassert>
#include <new>
#include <type_traits>

#include "adapters/sqlite/faults.h"
#include "src/common/hex.h"
#include "src/common/stored_text.h"
#include "src/effect/sql_text.h"

namespace onceward::sqlite {
namespace {

constexpr const char* table_name = "onceward_rows";

// SQLite hands these structs back to us by their first member.
struct Table {
  sqlite3_vtab base{};
  const RowsTable* rows = nullptr;
};
struct Cursor {
  sqlite3_vtab_cursor base{};
  const RowSource* rows = nullptr;
  std::size_t row = 0;
};

Cursor& cursor_of(sqlite3_vtab_cursor* cursor) { return *reinterpret_cast<Cursor*>(cursor); }

int connect(sqlite3* handle, void* rows, int, const char* const*, sqlite3_vtab** made, char**) {
  std::string columns = "c0";
  for (int i = 1; i < most_columns; ++i) columns += fmt::format(",c{}", i);
  const int result = sqlite3_declare_vtab(handle, fmt::format("CREATE TABLE x({})", columns).c_str());
  if (result != SQLITE_OK) return result;
  // No trigger or view of the user's may read it: it holds something only while one of our statements runs.
  sqlite3_vtab_config(handle, SQLITE_VTAB_DIRECTONLY);
  auto* const table = new (std::nothrow) Table;
  if (table == nullptr) return SQLITE_NOMEM;
  table->rows = static_cast<const RowsTable*>(rows);
  *made = &table->base;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedCost = 1000;
  info->estimatedRows = 1000;
  return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** made) {
  auto* const cursor = new (std::nothrow) Cursor;
  if (cursor == nullptr) return SQLITE_NOMEM;
  *made = &cursor->base;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  Cursor& at = cursor_of(cursor);
  at.rows = reinterpret_cast<const Table*>(cursor->pVtab)->rows->shown();
  at.row = 0;
  return at.rows == nullptr ? SQLITE_MISUSE : SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  ++cursor_of(cursor).row;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) { return cursor_of(cursor).row >= cursor_of(cursor).rows->size(); }

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int which) {
  const Cursor& at = cursor_of(cursor);
  at.rows->column(context, at.row, which);
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<sqlite3_int64>(cursor_of(cursor).row);
  return SQLITE_OK;
}

// Without xCreate it is eponymous: there without CREATE VIRTUAL TABLE, and never in anybody's schema.
constexpr sqlite3_module module_of_rows() {
  sqlite3_module made{};
  made.xConnect = connect;
  made.xBestIndex = best_index;
  made.xDisconnect = disconnect;
  made.xOpen = open;
  made.xClose = close;
  made.xFilter = filter;
  made.xNext = next;
  made.xEof = at_end;
  made.xColumn = column;
  made.xRowid = row_id;
  return made;
}
constexpr sqlite3_module rows_module = module_of_rows();

void answer_uuid(sqlite3_context* context, const Uuid& uuid) {
  const UuidText text = uuid_text(uuid.bytes);
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void answer_text(sqlite3_context* context, std::string_view text) {
  if (flaw_of(text) == TextFlaw::none)
    answer(context, text);
  else
    sqlite3_result_error_code(context, SQLITE_MISMATCH);
}

}  // namespace

RowsTable::~RowsTable() {
  if (offered_) sqlite3_create_module_v2(handle_, table_name, nullptr, nullptr, nullptr);
}

void RowsTable::offer() {
  if (offered_) return;
  if (sqlite3_create_module_v2(handle_, table_name, &rows_module, this, nullptr) != SQLITE_OK) {
    throw fault_of(handle_, During::prepare);
  }
  offered_ = true;
}

void answer(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void answer(sqlite3_context* context, Blob blob) {
  sqlite3_result_blob64(context, blob.bytes.empty() ? "" : blob.bytes.data(), blob.bytes.size(), SQLITE_STATIC);
}

void answer(sqlite3_context* context, const Key& key) {
  sqlite3_result_blob(context, key.bytes.data(), static_cast<int>(key.bytes.size()), SQLITE_STATIC);
}

void RelationRows::column(sqlite3_context* context, std::size_t row, int column) const {
  const auto place = static_cast<std::size_t>(column);
  if (place >= relation_.columns.size()) return;  // NULL
  const Column& source = relation_.columns[place];
  if (!source.present.empty() && !source.present[row]) return;
  std::visit(
      [&](const auto& values) {
        using Values = std::decay_t<decltype(values)>;
        if constexpr (std::is_same_v<Values, Decimals>) {
          sqlite3_result_int64(context, values.minor_units[row]);
        } else if constexpr (std::is_same_v<Values, std::span<const Timestamp>>) {
          sqlite3_result_int64(context, values[row].time_since_epoch().count());
        } else if constexpr (std::is_same_v<Values, std::span<const Blob>>) {
          answer(context, values[row]);
        } else if constexpr (std::is_same_v<Values, std::span<const Uuid>>) {
          answer_uuid(context, values[row]);
        } else if constexpr (std::is_same_v<Values, std::span<const Json>>) {
          answer_text(context, values[row].text);
        } else if constexpr (std::is_same_v<Values, std::span<const std::string_view>>) {
          answer_text(context, values[row]);
        } else {
          sqlite3_result_int64(context, values[row]);  // an integer or a boolean
        }
      },
      source.values);
}

std::string RelationRows::over(std::string_view sql) const {
  std::string columns, sources;
  for (std::size_t i = 0; i < relation_.columns.size(); ++i) {
    const char* const comma = i == 0 ? "" : ",";
    columns += fmt::format("{}{}", comma, quoted(relation_.columns[i].name));
    sources += fmt::format("{}c{}", comma, i);
  }
  return with_table(fmt::format("{}({}) AS (SELECT {} FROM {})", quoted(relation_.name), columns, sources, table_name),
                    sql);
}

}  // namespace onceward::sqlite
