// What a handler may do: write to the user's tables and stage what is to leave. It cannot claim, commit or settle.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/envelope.h"

namespace onceward {

// A statement's parameter; borrows until the call returns. Text is sent untyped, so that the column decides what it
// is (uuid, numeric, jsonb...).
struct Blob {
  std::string_view bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};
class Value {
 public:
  using Variant = std::variant<std::monostate, std::int64_t, double, bool, std::string_view, Blob, Timestamp>;
  Value(std::nullptr_t) {}
  Value(std::nullopt_t) {}
  Value(bool value) : value_(value) {}
  template <std::signed_integral T>
  Value(T value) : value_(std::int64_t{value}) {}
  Value(std::uint32_t value) : value_(std::int64_t{value}) {}
  Value(double value) : value_(value) {}
  Value(const char* text) : value_(std::string_view(text)) {}
  Value(std::string_view text) : value_(text) {}
  Value(const std::string& text) : value_(std::string_view(text)) {}
  Value(Blob bytes) : value_(bytes) {}
  Value(Timestamp time) : value_(time) {}
  template <class Tag>
  Value(Id<Tag> id) : value_(id.text()) {}
  template <class T>
  Value(const std::optional<T>& value) {
    if (value) *this = Value(*value);
  }
  const Variant& get() const { return value_; }

 private:
  Variant value_;
};

// The rows of a query, owned. Types that are none of ours (uuid, numeric, jsonb...) arrive as text.
struct OwnedBlob {
  std::string bytes;
  friend bool operator==(const OwnedBlob&, const OwnedBlob&) = default;
};
using Datum = std::variant<std::monostate, std::int64_t, double, bool, std::string, OwnedBlob, Timestamp>;
using Row = std::vector<Datum>;
using Rows = std::vector<Row>;

// The values of a relation's columns that have no type of their own in the standard library.
struct Uuid {
  std::array<unsigned char, 16> bytes{};
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};
struct Json {
  std::string_view text;  // one JSON value, without \u0000
  friend bool operator==(const Json&, const Json&) = default;
};
// 12.34 is 1234 minor units of scale 2.
struct Decimals {
  std::span<const std::int64_t> minor_units;
  int scale = 0;  // 0 to 18
  std::size_t size() const { return minor_units.size(); }
};

// Rows in memory that a statement may read as if they were a table: the way to write a whole batch at once.
// All columns have the same length. Borrowed until the call returns. What each type is on each store stands in
// docs/reference/stores.md.
struct Column {
  std::string_view name;
  std::variant<std::span<const std::int64_t>, std::span<const std::string_view>, std::span<const Blob>,
               std::span<const Timestamp>, std::span<const bool>, std::span<const Uuid>, Decimals,
               std::span<const Json>>
      values;
  // Which rows have a value: the others are NULL, whatever `values` holds there. Empty: all have one.
  std::span<const bool> present{};
};
inline std::size_t rows_of(const Column& column) {
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}
// Names are letters, digits and '_', at most 63, not beginning with a digit.
struct Relation {
  std::string_view name;
  std::span<const Column> columns;  // 1 to 96
};

// A message to publish once the transaction has committed. Borrowed until stage() returns.
struct Outgoing {
  std::string_view type;
  std::string_view key;      // routing and order: usually the aggregate's id
  std::string_view payload;  // exact bytes
  std::string_view id{};     // empty: a function of the message that caused it, `name` and the ordinal
  std::string_view name{};   // tells two outgoing messages of one type and cause apart when their order may change
  std::string_view aggregate_type{};
  std::string_view aggregate_id{};
  std::optional<std::int64_t> aggregate_version{};
  std::optional<std::int64_t> event_version{};
  std::string_view content_type{"application/json"};
  std::span<const Header> headers{};
  // The fact (aggregate type, id, version, event type) may be staged once, ever: needs all four.
  bool unique_fact = false;
};

// A call to an external system, made after the commit under one key. Borrowed until stage() returns.
struct Call {
  std::string_view endpoint;
  std::string_view key;  // names the business action, never the attempt
  std::string_view body;
  std::string_view type{};
  std::string_view business_key{};
  std::optional<Timestamp> not_before{};
  bool approval = false;            // waits for a person, whatever its endpoint says
  std::string_view requested_by{};  // who must not be the one to approve it; empty: the consumer
};

enum class Inserted : std::uint8_t { inserted, already };

enum class Cancelled : std::uint8_t {
  cancelled,  // it will never be made, and staging it again does not change that
  too_late,   // it is being made, was made, or has ended otherwise
  not_found,
};

class Transaction {
 public:
  virtual ~Transaction() = default;

  // Runs a statement ($1, $2... on every store). Returns at once: a failure is thrown by the next call that waits,
  // or ends the commit.
  template <class... Args>
  void execute(std::string_view sql, const Args&... args) {
    const std::array<Value, sizeof...(Args)> values{Value(args)...};
    execute_values(sql, values);
  }
  // As execute, and waits for the number of rows it changed.
  template <class... Args>
  std::int64_t execute_counted(std::string_view sql, const Args&... args) {
    const std::array<Value, sizeof...(Args)> values{Value(args)...};
    return execute_counted_values(sql, values);
  }
  template <class... Args>
  Rows query(std::string_view sql, const Args&... args) {
    const std::array<Value, sizeof...(Args)> values{Value(args)...};
    return query_values(sql, values);
  }
  // Runs an INSERT with ON CONFLICT DO NOTHING added and says whether the row is new. A row that is already there is
  // "already processed": no error, and the transaction goes on. The statement is one INSERT without ON CONFLICT and
  // without RETURNING.
  template <class... Args>
  Inserted insert_once(std::string_view insert_sql, const Args&... args) {
    const std::array<Value, sizeof...(Args)> values{Value(args)...};
    return insert_once_values(insert_sql, values);
  }

  // Runs one statement that reads `relation` by its name, as a common table expression put before it.
  virtual void execute_over(const Relation& relation, std::string_view sql) = 0;

  // Staged rows commit with the effect or not at all; they are written set-wise at the commit.
  virtual void stage(const Outgoing& outgoing) = 0;
  virtual void stage(const Call& call) = 0;
  // Of a call that was staged by this transaction or an earlier one, under the tenant of the message that is handled, and that
  // is not under way and has no outcome yet. Waits for the answer; takes effect with the commit.
  virtual Cancelled cancel(std::string_view endpoint, std::string_view key) = 0;

 private:
  virtual void execute_values(std::string_view sql, std::span<const Value> values) = 0;
  virtual std::int64_t execute_counted_values(std::string_view sql, std::span<const Value> values) = 0;
  virtual Rows query_values(std::string_view sql, std::span<const Value> values) = 0;
  virtual Inserted insert_once_values(std::string_view insert_sql, std::span<const Value> values) = 0;
};

}  // namespace onceward
