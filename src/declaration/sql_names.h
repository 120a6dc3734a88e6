// The names that a declared field may have: it is a column of the relation `messages` in the user's SQL.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace onceward::declaration {

// The columns that every message has.
std::span<const std::string_view> message_columns();

inline constexpr std::size_t most_column_bytes = 63;  // PostgreSQL cuts a longer name

struct WrongColumn {
  std::string what;  // "is not ..."
  std::string hint;
};
// What is wrong with the name of a column, or nothing.
std::optional<WrongColumn> wrong_with_column(std::string_view name);

}  // namespace onceward::declaration
