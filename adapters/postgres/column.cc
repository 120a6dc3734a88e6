#include "adapters/postgres/column.h"

#include <fmt/format.h>

namespace onceward::postgres {
namespace {

// ndim = 1, has-null flag, element type, dimension, lower bound = 1
constexpr std::size_t header_bytes = 20;
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

std::string Column::expression(int number) const {
  const std::string value =
      varies_ ? fmt::format("unnest(${}::{}[])", number, type_.name) : fmt::format("${}::{}", number, type_.name);
  return fmt::format(fmt::runtime(wrapped_), value);
}

Parameter Column::parameter() {
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

std::string insert_text(std::string_view table, const std::vector<Column*>& columns) {
  std::string names, expressions;
  int number = 0;
  for (const Column* column : columns) {
    const std::string_view comma = number ? ", " : "";
    names += fmt::format("{}{}", comma, column->name());
    expressions += fmt::format("{}{}", comma, column->expression(++number));
  }
  return fmt::format("INSERT INTO onceward.{} ({}) SELECT {}", table, names, expressions);
}

std::vector<Parameter> parameters_of(const std::vector<Column*>& columns) {
  std::vector<Parameter> parameters;
  parameters.reserve(columns.size());
  for (Column* column : columns) parameters.push_back(column->parameter());
  return parameters;
}

}  // namespace onceward::postgres
