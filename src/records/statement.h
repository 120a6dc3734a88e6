// A statement over our tables, written once for both stores and put together from what is asked for.
//
//   {inbox}      the table of that name
//   {now}        the store's time, to be written into a column
//   {now_micros} the same as whole microseconds since 1970
//   {micros x}   so the time in column x
//   {lock}       at the end of a SELECT: keeps its rows from others until the transaction ends
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/port/store.h"

namespace onceward::records {

class Statement {
 public:
  static constexpr std::size_t most_values = 16;

  explicit Statement(Dialect dialect) : dialect_(dialect) {}
  Statement(Dialect dialect, std::string_view sql) : dialect_(dialect) { add(sql); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& add(std::string_view sql);
  // Adds the next parameter in place. Texts and bytes are copied.
  Statement& bind(std::int64_t number);
  Statement& bind(Timestamp time);
  Statement& bind(std::string_view text);
  Statement& bind(const Key& key);
  Statement& bind(Blob bytes);
  // Adds "= any of the numbers", or of the texts, as one parameter.
  Statement& bind_any(std::span<const std::int64_t> numbers);
  Statement& bind_any(std::span<const int> numbers);
  Statement& bind_any(std::span<const std::string> texts);

  const std::string& text() const { return text_; }
  Rows query(Transaction& transaction) const;
  Rows query(Look& look) const;
  // The number of rows that it changed.
  std::int64_t run(Transaction& transaction) const;

 private:
  void expand(std::string_view name);
  Statement& bind_value(const Value& value);

  const Dialect dialect_;
  std::string text_;
  std::vector<Value> values_;
  std::deque<std::string> texts_;  // what the values borrow
};

// What a row holds, by the type that is expected there; an empty value for NULL.
std::int64_t number_in(const Datum& datum);
std::string text_in(const Datum& datum);
std::string bytes_in(const Datum& datum);
bool is_null(const Datum& datum);
std::vector<std::int64_t> numbers_in(const Rows& rows);  // of their first column
Key key_in(const Datum& datum);
Timestamp time_in(const Datum& micros);
template <class T>
std::optional<T> unless_null(const Datum& datum, T (*read)(const Datum&)) {
  if (is_null(datum)) return std::nullopt;
  return read(datum);
}

// A key as people write it: a UUID in any case. Nothing for any other text.
std::optional<Key> key_named(std::string_view text);

}  // namespace onceward::records
