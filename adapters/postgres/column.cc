#include "adapters/postgres/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onceward/fault.h"

namespace onceward::postgres {
namespace {

// ndim = 1, has-null flag, element type, dimension, lower bound = 1
constexpr std::size_t array_header_bytes = 20;
constexpr std::size_t largest_parameter = 1'000'000'000;  // what the server takes in one value
constexpr std::uint32_t null_length = ~std::uint32_t{0};

}  // namespace

void Column::reserve(std::size_t rows, std::size_t bytes) { array_.reserve(array_header_bytes + 4 * rows + bytes); }

void Column::begin_array() {
  varies_ = true;
  array_.more(array_header_bytes);
}

bool Column::still_uniform(std::string_view bytes, bool null) {
  if (count_ == 0) {
    first_ = bytes;
    first_is_null_ = null;
  }
  if (null == first_is_null_ && bytes == first_) {
    ++count_;
    return true;
  }
  begin_array();
  for (std::uint32_t earlier = std::exchange(count_, 0); earlier > 0; --earlier)
    first_is_null_ ? add_null() : add(first_);
  return false;
}

void Column::add_null() {
  if (!varies_ && still_uniform({}, true)) return;
  has_null_ = true;
  store_big_endian(array_.more(4), null_length);
  ++count_;
}

std::string Column::expression(std::string_view value) const { return fmt::format(fmt::runtime(wrapped_), value); }

std::string_view Column::elements() const {
  return varies_ ? array_.view().substr(array_header_bytes) : std::string_view();
}

Parameter Column::parameter() {
  if (array_.size() > largest_parameter) {
    throw Fault(FaultCode::statement_failed, Poisons::transaction,
                "a batch holds more than 1 GB in one column: make batches smaller");
  }
  if (!varies_) {
    return {type_.element, first_is_null_ ? nullptr : first_.data(), static_cast<int>(first_.size()), 1};
  }
  const std::uint32_t header[] = {1, has_null_ ? 1u : 0u, type_.element, count_, 1};
  for (std::size_t i = 0; i < std::size(header); ++i) store_big_endian(array_.data() + 4 * i, header[i]);
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
