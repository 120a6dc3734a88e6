// One column of a set-wise statement, in PostgreSQL's binary format: an array, or a single value while all rows agree
// (each unnest costs the server about as much as the column's own bytes).
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/postgres/byte_buffer.h"
#include "onceward/identity.h"

namespace onceward::postgres {

struct Type {
  Oid element;
  Oid array;
  std::string_view name;
};
inline constexpr Type bool_type{16, 1000, "boolean"};
inline constexpr Type bytea_type{17, 1001, "bytea"};
inline constexpr Type int8_type{20, 1016, "bigint"};
inline constexpr Type int2_type{21, 1005, "smallint"};
inline constexpr Type int4_type{23, 1007, "integer"};
inline constexpr Type text_type{25, 1009, "text"};
inline constexpr Type float8_type{701, 1022, "double precision"};
inline constexpr Type timestamptz_type{1184, 1185, "timestamptz"};
inline constexpr Type numeric_type{1700, 1231, "numeric"};
inline constexpr Type uuid_type{2950, 2951, "uuid"};
inline constexpr Type jsonb_type{3802, 3807, "jsonb"};

struct Parameter {
  Oid type = 0;
  const char* data = nullptr;  // null: NULL
  int length = 0;
  int format = 1;
};

// Since 2000-01-01.
inline constexpr std::chrono::sys_days postgres_epoch = std::chrono::January / 1 / 2000;
constexpr std::int64_t postgres_micros(Timestamp time) { return (time - Timestamp(postgres_epoch)).count(); }
constexpr Timestamp from_postgres_micros(std::int64_t micros) {
  return Timestamp(postgres_epoch) + std::chrono::microseconds(micros);
}

class Column {
 public:
  enum class Shape { may_be_uniform, always_array };

  Column(std::string_view name, Type type, Shape shape = Shape::may_be_uniform) : name_(name), type_(type) {
    if (shape == Shape::always_array) begin_array();
  }
  // The value is what `expression` makes of it: "now() + {} * interval '1 millisecond'".
  Column(std::string_view name, Type type, const char* expression) : name_(name), type_(type), wrapped_(expression) {}

  // Room for an array of so many rows with so many bytes in all.
  void reserve(std::size_t rows, std::size_t bytes);
  void add(std::string_view bytes) {
    if (!varies_ && still_uniform(bytes, false)) return;
    char* const element = array_.more(4 + bytes.size());
    store_big_endian(element, static_cast<std::uint32_t>(bytes.size()));
    if (!bytes.empty()) std::memcpy(element + 4, bytes.data(), bytes.size());
    ++count_;
  }
  void add(const Key& key) { add({reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()}); }
  void add(const PayloadHash& hash) { add({reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size()}); }
  // Of the column's width.
  void add(std::int64_t value) {
    char bytes[8];
    switch (type_.element) {
      case int2_type.element:
        return add(stored(bytes, static_cast<std::uint16_t>(value)));
      case int4_type.element:
        return add(stored(bytes, static_cast<std::uint32_t>(value)));
      default:
        return add(stored(bytes, static_cast<std::uint64_t>(value)));
    }
  }
  void add(Timestamp time) { add(postgres_micros(time)); }
  void add_null();
  template <class T>
  void add(const std::optional<T>& value) {
    value ? add(*value) : add_null();
  }

  std::string_view name() const { return name_; }
  const Type& type() const { return type_; }
  std::uint32_t size() const { return count_; }
  bool uniform() const { return !varies_; }
  // Whether both are arrays of the same values.
  bool repeats(const Column& other) const {
    return varies_ && other.varies_ && type_.element == other.type_.element && elements() == other.elements();
  }
  // What the column makes of `value`, a parameter or an unnested one.
  std::string expression(std::string_view value) const;
  // Borrows from this column.
  Parameter parameter();

 private:
  template <class Number>
  static std::string_view stored(char* out, Number number) {
    store_big_endian(out, number);
    return {out, sizeof number};
  }
  void begin_array();
  // Counts a value that is as those before it. The first that is not makes an array of those.
  bool still_uniform(std::string_view bytes, bool null);
  std::string_view elements() const;  // without the array's header

  std::string_view name_;
  Type type_;
  const char* wrapped_ = "{}";
  bool varies_ = false;
  bool first_is_null_ = false;
  bool has_null_ = false;
  std::uint32_t count_ = 0;
  std::string first_;
  ByteBuffer array_;
};

// A statement that writes the columns' rows. Arrays are unnested in a sub-select, each once: columns that hold the same
// values (an id that is also a correlation id) share theirs.
struct SetInsert {
  std::string sql;
  std::vector<Parameter> parameters;  // borrow from the columns
};
SetInsert set_insert(std::string_view table, const std::vector<Column*>& columns);
std::vector<Parameter> parameters_of(const std::vector<Column*>& columns);

}  // namespace onceward::postgres
