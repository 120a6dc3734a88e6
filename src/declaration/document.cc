#include "src/declaration/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

// The parser recurses over values inside each other. The limit is compiled into it, and the packaged library's is 256: so
// the parser is compiled here.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace onceward::declaration {
namespace {

static_assert(most_nested_values == TOML_MAX_NESTED_VALUES);

Place begin_of(const toml::source_region& region) { return {region.begin.line, region.begin.column}; }

Node node_of(const toml::node& from);

Table table_of(const toml::table& from) {
  Table table;
  for (const auto& [key, value] : from)
    table.entries.push_back({std::string(key.str()), begin_of(key.source()), node_of(value)});
  std::ranges::sort(table.entries, {}, &Entry::place);  // the library sorts by name
  return table;
}

Array array_of(const toml::array& from) {
  Array array;
  for (const auto& element : from) array.push_back(node_of(element));
  return array;
}

// Recurses as deep as the library nests, which the two limits bound.
Node node_of(const toml::node& from) {
  Node node{begin_of(from.source()), DateOrTime{}};
  if (const auto* table = from.as_table()) node.value = table_of(*table);
  if (const auto* array = from.as_array()) node.value = array_of(*array);
  if (const auto* text = from.as_string()) node.value = text->get();
  if (const auto* integer = from.as_integer()) node.value = integer->get();
  if (const auto* number = from.as_floating_point()) node.value = number->get();
  if (const auto* boolean = from.as_boolean()) node.value = boolean->get();
  return node;
}

// Every dot of a key is a table inside a table, and the library frees tables recursively: half a megabyte of "a." would
// end the process. A dotted key stands on one line, so the dots of a line bound its depth.
std::optional<SyntaxError> line_with_too_many_dots(std::string_view toml) {
  std::uint32_t line = 1;
  std::size_t dots = 0;
  for (const char c : toml) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > most_dots_in_a_line) {
      return SyntaxError{{line, 1},
                         fmt::format("more than {} dots in one line", most_dots_in_a_line),
                         "break the line, or write tables under headers of their own"};
    }
  }
  return std::nullopt;
}

}  // namespace

const Entry* Table::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

std::variant<Node, SyntaxError> read_document(std::string_view toml) {
  if (toml.size() > most_file_bytes)
    return SyntaxError{{1, 1},
                       fmt::format("the file has {} bytes, more than {}", toml.size(), most_file_bytes),
                       "a declaration is written by people; is this the right file?"};
  if (auto error = line_with_too_many_dots(toml)) return *std::move(error);
  try {
    return node_of(toml::parse(toml));
  } catch (const toml::parse_error& error) {
    return SyntaxError{begin_of(error.source()), fmt::format("not TOML: {}", error.description()),
                       "https://toml.io/en/v1.0.0 has the grammar on one page"};
  }
}

std::string_view kind_of(const Node& node) {
  constexpr std::string_view kinds[] = {"a string",         "an integer", "a number", "true or false",
                                        "a date or a time", "an array",   "a table"};
  static_assert(std::size(kinds) == std::variant_size_v<decltype(node.value)>);
  return kinds[node.value.index()];
}

Places places_of(const Node& node, const Path& path) {
  const Node* at = &node;
  Places places{node.place, node.place};
  for (const Path::Step& step : path.steps()) {
    const auto* key = std::get_if<std::string>(&step);
    const auto* index = std::get_if<std::size_t>(&step);
    const auto* table = std::get_if<Table>(&at->value);
    const auto* array = std::get_if<Array>(&at->value);
    if (const Entry* entry = key && table ? table->find(*key) : nullptr) {
      at = &entry->value;
      places = {entry->place, at->place};
    } else if (index && array && *index < array->size()) {
      at = &(*array)[*index];
      places = {at->place, at->place};
    } else {
      break;
    }
  }
  return places;
}

}  // namespace onceward::declaration
