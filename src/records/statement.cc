#include "src/records/statement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "src/common/hex.h"
#include "src/common/json.h"

namespace onceward::records {
namespace {

// The port takes a statement's values one by one.
template <class Asked, std::size_t... i>
Rows query_with(Asked& asked, std::string_view sql, const Value* values, std::index_sequence<i...>) {
  return asked.query(sql, values[i]...);
}
template <std::size_t... i>
std::int64_t run_with(Transaction& transaction, std::string_view sql, const Value* values, std::index_sequence<i...>) {
  return transaction.execute_counted(sql, values[i]...);
}

template <class Asked>
using Query = Rows (*)(Asked&, std::string_view, const Value*);
using Run = std::int64_t (*)(Transaction&, std::string_view, const Value*);

template <class Asked, std::size_t count>
Rows query_count(Asked& asked, std::string_view sql, const Value* values) {
  return query_with(asked, sql, values, std::make_index_sequence<count>());
}
template <std::size_t count>
std::int64_t run_count(Transaction& transaction, std::string_view sql, const Value* values) {
  return run_with(transaction, sql, values, std::make_index_sequence<count>());
}

template <class Asked, std::size_t... count>
constexpr std::array<Query<Asked>, sizeof...(count)> queries(std::index_sequence<count...>) {
  return {query_count<Asked, count>...};
}
template <std::size_t... count>
constexpr std::array<Run, sizeof...(count)> runs(std::index_sequence<count...>) {
  return {run_count<count>...};
}

constexpr auto by_count = std::make_index_sequence<Statement::most_values + 1>();

}  // namespace

void Statement::expand(std::string_view name) {
  const bool postgres = dialect_ == Dialect::postgres;
  constexpr std::string_view micros = "micros ";
  if (name == "now_micros" && postgres) {
    expand("micros clock_timestamp()");
  } else if (name == "now" || name == "now_micros") {
    text_ += postgres ? "clock_timestamp()" : "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";
  } else if (name == "lock") {
    text_ += postgres ? "FOR UPDATE" : "";  // a unit on SQLite has the whole file
  } else if (name.starts_with(micros)) {
    const std::string column(name.substr(micros.size()));
    text_ += postgres ? "(extract(epoch FROM " + column + ") * 1000000)::bigint" : column;
  } else {
    text_ += postgres ? "onceward." : "onceward_";
    text_ += name;
  }
}

Statement& Statement::add(std::string_view sql) {
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t open = std::min(sql.find('{', at), sql.size());
    text_ += sql.substr(at, open - at);
    if (open == sql.size()) break;
    const std::size_t close = sql.find('}', open);
    expand(sql.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return *this;
}

Statement& Statement::bind_value(const Value& value) {
  values_.push_back(value);
  text_ += '$' + std::to_string(values_.size());
  return *this;
}

Statement& Statement::bind(std::int64_t number) { return bind_value(number); }
Statement& Statement::bind(Timestamp time) { return bind_value(time); }
Statement& Statement::bind(std::string_view text) { return bind_value(texts_.emplace_back(text)); }

Statement& Statement::bind(const Key& key) {
  if (dialect_ == Dialect::postgres) return bind(std::string_view(to_string(key)));
  return bind(Blob{{reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()}});
}

Statement& Statement::bind(Blob bytes) { return bind_value(Blob{texts_.emplace_back(bytes.bytes)}); }

Statement& Statement::bind_any(std::span<const std::int64_t> numbers) {
  const bool postgres = dialect_ == Dialect::postgres;
  std::string list(1, postgres ? '{' : '[');
  for (const std::int64_t number : numbers) {
    if (list.size() > 1) list += ',';
    list += std::to_string(number);
  }
  list += postgres ? '}' : ']';
  text_ += postgres ? "= ANY(" : "IN (SELECT value FROM json_each(";
  bind(list);
  text_ += postgres ? "::bigint[])" : "))";
  return *this;
}

Statement& Statement::bind_any(std::span<const int> numbers) {
  const std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
  return bind_any(wide);
}

Statement& Statement::bind_any(std::span<const std::string> texts) {
  const bool postgres = dialect_ == Dialect::postgres;
  std::string list(1, '[');
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ',';
    append_json_string(list, text);
  }
  list += ']';
  text_ += postgres ? "= ANY(ARRAY(SELECT jsonb_array_elements_text(" : "IN (SELECT value FROM json_each(";
  bind(list);
  text_ += postgres ? "::jsonb)))" : "))";
  return *this;
}

Rows Statement::query(Transaction& transaction) const {
  static constexpr auto calls = queries<Transaction>(by_count);
  return calls.at(values_.size())(transaction, text_, values_.data());
}

Rows Statement::query(Look& look) const {
  static constexpr auto calls = queries<Look>(by_count);
  return calls.at(values_.size())(look, text_, values_.data());
}

std::int64_t Statement::run(Transaction& transaction) const {
  static constexpr auto calls = runs(by_count);
  return calls.at(values_.size())(transaction, text_, values_.data());
}

bool is_null(const Datum& datum) { return std::holds_alternative<std::monostate>(datum); }

std::int64_t number_in(const Datum& datum) {
  const auto* number = std::get_if<std::int64_t>(&datum);
  return number ? *number : 0;
}

std::vector<std::int64_t> numbers_in(const Rows& rows) {
  std::vector<std::int64_t> numbers;
  for (const Row& row : rows) numbers.push_back(number_in(row[0]));
  return numbers;
}

std::string text_in(const Datum& datum) {
  const auto* text = std::get_if<std::string>(&datum);
  return text ? *text : std::string();
}

std::string bytes_in(const Datum& datum) {
  const auto* blob = std::get_if<OwnedBlob>(&datum);
  return blob ? blob->bytes : std::string();
}

Key key_in(const Datum& datum) {
  if (const auto* text = std::get_if<std::string>(&datum)) return key_named(*text).value_or(Key{});
  Key key;
  const std::string bytes = bytes_in(datum);
  std::memcpy(key.bytes.data(), bytes.data(), std::min(bytes.size(), key.bytes.size()));
  return key;
}

Timestamp time_in(const Datum& micros) { return Timestamp(std::chrono::microseconds(number_in(micros))); }

std::optional<Key> key_named(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Key key;
  std::size_t digits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at == 8 || at == 13 || at == 18 || at == 23) {
      if (text[at] != '-') return std::nullopt;
      continue;
    }
    const char lower = text[at] >= 'A' && text[at] <= 'F' ? static_cast<char>(text[at] - 'A' + 'a') : text[at];
    const auto digit = hex_digit(lower);
    if (!digit) return std::nullopt;
    unsigned char& byte = key.bytes[digits / 2];
    byte = static_cast<unsigned char>(byte << 4 | *digit);
    ++digits;
  }
  return key;
}

}  // namespace onceward::records
