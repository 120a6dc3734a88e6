// A TOML text as a tree that remembers where everything stood. Only document.cc knows the TOML library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/declaration/path.h"

namespace onceward::declaration {

struct Place {
  std::uint32_t line = 0;  // from 1
  std::uint32_t column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Node;
struct Entry;
using Array = std::vector<Node>;
struct Table {
  std::vector<Entry> entries;  // in the order of the file
  const Entry* find(std::string_view key) const;
};
struct DateOrTime {};  // TOML's own; nothing here takes one

struct Node {
  Place place;
  std::variant<std::string, std::int64_t, double, bool, DateOrTime, Array, Table> value;
};
struct Entry {
  std::string key;
  Place place;
  Node value;
};

struct SyntaxError {
  Place place;
  std::string message;
  std::string hint;
};

inline constexpr std::size_t most_file_bytes = std::size_t{1} << 20;
inline constexpr std::size_t most_nested_values = 16;  // arrays and inline tables inside each other
inline constexpr std::size_t most_dots_in_a_line = 128;

// The root is a table.
std::variant<Node, SyntaxError> read_document(std::string_view toml);

// "a string", "an array"... for messages.
std::string_view kind_of(const Node& node);

// Where the path leads from here; where it leads nowhere, the last place on the way.
struct Places {
  Place key;  // of an element of an array: as its value
  Place value;
};
Places places_of(const Node& node, const Path& path);

}  // namespace onceward::declaration
