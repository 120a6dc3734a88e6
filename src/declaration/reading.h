// From a tree of TOML to values: what every table and every value has in common. A value that cannot be read keeps its
// default, the mistake is noted, and reading goes on.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onceward/declaration.h"
#include "src/declaration/choices.h"
#include "src/declaration/document.h"
#include "src/declaration/path.h"
#include "src/declaration/rules.h"

namespace onceward::declaration {

// A value and the way to it: from its consumer, or from the root.
struct Item {
  const Node& node;
  Path path;
};

class Reading {
 public:
  explicit Reading(std::string_view file) : file_(file) {}

  void mistake(Place place, const Path& path, std::string message, std::string hint);
  void mistake(const Item& item, std::string message, std::string hint) {
    mistake(item.node.place, item.path, std::move(message), std::move(hint));
  }
  void wrong_kind(const Item& item, std::string_view wanted, std::string_view hint);
  void unknown_key(const Item& table, const Entry& entry, std::span<const std::string_view> known);

  // Adds findings about the value read from `root`, except those that an unreadable text has caused.
  void take(const std::vector<Finding>& findings, const Node& root);
  // Adds the mistakes of a part that was read with paths of its own.
  void take(Reading part);

  const std::string& file() const { return file_; }
  std::vector<Mistake> mistakes() &&;  // in the order of the file

 private:
  bool unreadable(const Finding& finding) const;

  std::string file_;
  std::vector<Mistake> mistakes_;
  std::vector<Path> unreadable_;
};

// One key of a table and what reads it.
template <class Value>
struct Key {
  std::string_view name;
  void (*read)(Reading& reading, const Item& item, Value& value);
};

void read(Reading& reading, const Item& item, std::string& value);
void read(Reading& reading, const Item& item, bool& value);
void read(Reading& reading, const Item& item, std::int64_t& value);
void read(Reading& reading, const Item& item, std::chrono::milliseconds& value);
void read(Reading& reading, const Item& item, HorizonInputs::Span& value);
void read(Reading& reading, const Item& item, std::vector<std::string>& value);

const Table* table_in(Reading& reading, const Item& item);
const Array* array_in(Reading& reading, const Item& item, std::string_view hint);
const std::string* string_in(Reading& reading, const Item& item, std::string_view hint);

template <std::integral Integer>
void read(Reading& reading, const Item& item, Integer& value) {
  auto number = static_cast<std::int64_t>(value);
  read(reading, item, number);
  if (std::in_range<Integer>(number))
    value = static_cast<Integer>(number);
  else
    reading.mistake(item, "is out of range", "docs/reference/declaration.md has the limits");
}

template <class Enum>
std::vector<std::string_view> words() {
  std::vector<std::string_view> result;
  for (const auto& choice : Choices<Enum>::all) result.push_back(choice.word);
  return result;
}

template <class Enum>
std::optional<Enum> choice_named(std::string_view word) {
  for (const auto& choice : Choices<Enum>::all)
    if (choice.word == word) return choice.value;
  return std::nullopt;
}

void no_such_choice(Reading& reading, const Item& item, std::string_view word, std::string_view what,
                    std::span<const std::string_view> words);

template <class Enum>
  requires std::is_enum_v<Enum>
void read(Reading& reading, const Item& item, Enum& value) {
  const std::string* word = string_in(reading, item, {});
  if (word == nullptr) return;
  if (const auto found = choice_named<Enum>(*word))
    value = *found;
  else
    no_such_choice(reading, item, *word, Choices<Enum>::what, words<Enum>());
}

template <class Enum>
  requires std::is_enum_v<Enum>
void read(Reading& reading, const Item& item, std::optional<Enum>& value) {
  read(reading, item, value.emplace());
}

// Reads what stands under a key straight into a member.
template <auto Member, class Value>
void into(Reading& reading, const Item& item, Value& value) {
  read(reading, item, value.*Member);
}

template <class Value, std::size_t count>
void read_table(Reading& reading, const Item& item, const Key<Value> (&keys)[count], Value& value) {
  const Table* table = table_in(reading, item);
  if (table == nullptr) return;
  for (const Entry& entry : table->entries) {
    const auto key = std::ranges::find(keys, std::string_view(entry.key), &Key<Value>::name);
    if (key != std::end(keys)) {
      key->read(reading, {entry.value, item.path / entry.key}, value);
      continue;
    }
    std::vector<std::string_view> known;
    for (const Key<Value>& other : keys) known.push_back(other.name);
    reading.unknown_key(item, entry, known);
  }
}

}  // namespace onceward::declaration
