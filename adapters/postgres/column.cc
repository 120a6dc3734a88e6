#include "adapters/postgres/column.h"

#include <fmt/format.h>

#include <algorithm>

#include "onceward/fault.h"

namespace onceward::postgres {
namespace {

// ndim = 1, has-null flag, element type, dimension, lower bound = 1
constexpr std::size_t header_bytes = 20;
constexpr std::size_t largest_parameter = 1'000'000'000;  // what the server takes in one value
constexpr std::chrono::sys_days postgres_epoch = std::chrono::January / 1 / 2000;

void put_big_endian(char* out, std::uint32_t value) {
  for (int byte = 0; byte < 4; ++byte) out[byte] = static_cast<char>(value >> (24 - 8 * byte));
}

}  // namespace

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

std::int64_t postgres_micros(Timestamp time) { return (time - Timestamp(postgres_epoch)).count(); }
Timestamp from_postgres_micros(std::int64_t micros) {
  return Timestamp(postgres_epoch) + std::chrono::microseconds(micros);
}

void Column::reserve(std::size_t rows, std::size_t bytes) { array_.reserve(header_bytes + 4 * rows + bytes); }

void Column::add(std::int64_t value) {
  const int width = type_.element == int2_type.element ? 2 : type_.element == int4_type.element ? 4 : 8;
  char bytes[8];
  for (int byte = 0; byte < width; ++byte) {
    bytes[byte] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * (width - 1 - byte)));
  }
  add(std::string_view(bytes, static_cast<std::size_t>(width)));
}

void Column::add_element(std::string_view bytes, bool null) {
  if (!varies_) {
    if (count_ == 0) {
      first_ = bytes;
      first_is_null_ = null;
    }
    if (null == first_is_null_ && bytes == first_) {
      ++count_;
      return;
    }
    varies_ = true;
    for (std::uint32_t row = 0; row < count_; ++row) append_element(first_, first_is_null_);
  }
  append_element(bytes, null);
  ++count_;
}

void Column::append_element(std::string_view bytes, bool null) {
  if (array_.empty()) array_.resize(header_bytes);
  has_null_ |= null;
  char length[4];
  put_big_endian(length, null ? ~std::uint32_t{0} : static_cast<std::uint32_t>(bytes.size()));
  array_.append(length, 4);
  array_.append(bytes);
}

std::string Column::expression(std::string_view value) const { return fmt::format(fmt::runtime(wrapped_), value); }

std::string_view Column::elements() const {
  return array_.empty() ? std::string_view() : std::string_view(array_).substr(header_bytes);
}

Parameter Column::parameter() {
  if (array_.size() > largest_parameter) {
    throw Fault(FaultCode::statement_failed, Poisons::transaction,
                "a batch holds more than 1 GB in one column: make batches smaller");
  }
  if (!varies_) {
    return {type_.element, first_is_null_ ? nullptr : first_.data(), static_cast<int>(first_.size()), 1};
  }
  if (array_.empty()) array_.resize(header_bytes);
  put_big_endian(array_.data(), 1);
  put_big_endian(array_.data() + 4, has_null_ ? 1 : 0);
  put_big_endian(array_.data() + 8, type_.element);
  put_big_endian(array_.data() + 12, count_);
  put_big_endian(array_.data() + 16, 1);
  return {type_.array, array_.data(), static_cast<int>(array_.size()), 1};
}

SetInsert set_insert(std::string_view table, const std::vector<Column*>& columns) {
  SetInsert insert;
  std::string names, values, arrays;
  std::vector<const Column*> unnested;
  for (Column* column : columns) {
    const auto same =
        std::find_if(unnested.begin(), unnested.end(), [&](auto* other) { return other->repeats(*column); });
    std::string value;
    if (same != unnested.end()) {
      value = fmt::format("a{}", same - unnested.begin());
    } else {
      insert.parameters.push_back(column->parameter());
      const std::size_t number = insert.parameters.size();
      if (column->uniform()) {
        value = fmt::format("${}::{}", number, column->type().name);
      } else {
        value = fmt::format("a{}", unnested.size());
        arrays +=
            fmt::format("{}unnest(${}::{}[]) AS {}", arrays.empty() ? "" : ", ", number, column->type().name, value);
        unnested.push_back(column);
      }
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", column->name());
    values += fmt::format("{}{}", values.empty() ? "" : ", ", column->expression(value));
  }
  insert.sql = fmt::format("INSERT INTO onceward.{} ({}) SELECT {}", table, names, values);
  if (!arrays.empty()) insert.sql += fmt::format(" FROM (SELECT {}) rows", arrays);
  return insert;
}

std::vector<Parameter> parameters_of(const std::vector<Column*>& columns) {
  std::vector<Parameter> parameters;
  parameters.reserve(columns.size());
  for (Column* column : columns) parameters.push_back(column->parameter());
  return parameters;
}

}  // namespace onceward::postgres
