#include "adapters/sqlite/statement.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "src/common/stored_text.h"
#include "src/effect/sql_text.h"

namespace onceward::sqlite {
namespace {

Fault refused(std::string_view why) { return {FaultCode::statement_failed, Poisons::transaction, std::string(why)}; }

// The number of a parameter written as $1; 0 for any other name.
std::size_t number_of(const char* name) {
  if (name == nullptr || name[0] != '$') return 0;
  std::size_t number = 0;
  const char* const end = name + std::strlen(name);
  const auto read = std::from_chars(name + 1, end, number);
  return read.ptr == end && read.ec == std::errc{} ? number : 0;
}

struct Binder {
  Statement& statement;
  int at;

  void operator()(std::monostate) const { statement.bind_null(at); }
  void operator()(std::int64_t value) const { statement.bind(at, value); }
  void operator()(double value) const {
    // SQLite would store it as NULL.
    if (std::isnan(value)) throw refused("a parameter is not a number, which SQLite cannot store");
    statement.bind(at, value);
  }
  void operator()(bool value) const { statement.bind(at, std::int64_t{value}); }
  void operator()(std::string_view text) const {
    if (const TextFlaw flaw = flaw_of(text); flaw != TextFlaw::none) {
      throw refused(fmt::format("a text parameter {}; bind it as a Blob", describe(flaw)));
    }
    statement.bind(at, text);
  }
  void operator()(Blob blob) const { statement.bind(at, blob); }
  void operator()(Timestamp time) const { statement.bind(at, std::int64_t{time.time_since_epoch().count()}); }
};

}  // namespace

Statement::Statement(sqlite3* handle, std::string_view sql, std::uint64_t& executed)
    : handle_(handle), executed_(executed) {
  if (sql.size() > (1u << 20)) throw refused("a statement is longer than 1 MiB");
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  const int result =
      sqlite3_prepare_v3(handle, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &prepared, &tail);
  statement_.reset(prepared);
  if (result != SQLITE_OK) throw fault_of(handle, During::prepare);
  if (prepared == nullptr) throw refused("the statement is empty");
  if (!first_keyword(sql.substr(static_cast<std::size_t>(tail - sql.data()))).empty()) {
    throw refused("one text holds several statements; run each by itself");
  }
  query_ = sqlite3_stmt_readonly(prepared) != 0;
}

void Statement::map_parameters() {
  const int count = sqlite3_bind_parameter_count(get());
  place_of_.assign(static_cast<std::size_t>(count), 0);
  for (int at = 1; at <= count; ++at) {
    const std::size_t number = number_of(sqlite3_bind_parameter_name(get(), at));
    // As many different names as places: none is missing and none is too high.
    if (number == 0 || number > place_of_.size()) {
      throw refused("parameters are written $1, $2... without a gap");
    }
    place_of_[number - 1] = at;
  }
  mapped_ = true;
}

void Statement::bind_values(std::span<const Value> values) {
  if (!mapped_) map_parameters();
  if (values.size() != place_of_.size()) {
    throw refused(
        fmt::format("the statement has {} parameters and was given {} values", place_of_.size(), values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i) std::visit(Binder{*this, place_of_[i]}, values[i].get());
}

bool Statement::step() {
  const int result = sqlite3_step(get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  throw fault_of(handle_, During::run);
}

std::int64_t Statement::run() {
  ++executed_;
  const Resetting resetting{get()};
  const std::int64_t before = sqlite3_total_changes64(handle_);
  std::int64_t rows = 0;
  while (step()) ++rows;
  if (query_) return rows;
  // changes() still tells of an earlier statement where this one changes nothing by its nature (DDL).
  return sqlite3_total_changes64(handle_) == before ? 0 : sqlite3_changes64(handle_);
}

int Statement::try_run() noexcept {
  ++executed_;
  int result = SQLITE_ROW;
  while (result == SQLITE_ROW) result = sqlite3_step(get());
  if (result != SQLITE_DONE) result = sqlite3_extended_errcode(handle_);
  sqlite3_reset(get());
  return result;
}

std::string_view bytes_at(sqlite3_stmt* row, int column) {
  const void* const bytes = sqlite3_column_blob(row, column);  // before its size, which converts
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

std::string_view text_at(sqlite3_stmt* row, int column) {
  const unsigned char* const text = sqlite3_column_text(row, column);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

Datum datum_at(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(row, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(row, column);
    case SQLITE_TEXT:
      return std::string(text_at(row, column));
    case SQLITE_BLOB:
      return OwnedBlob{std::string(bytes_at(row, column))};
    default:
      return std::monostate{};
  }
}

}  // namespace onceward::sqlite
