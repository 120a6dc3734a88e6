#include "src/declaration/reading.h"

#include <fmt/format.h>

#include <iterator>
#include <tuple>

#include "src/declaration/duration.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"

namespace onceward::declaration {

void Reading::mistake(Place place, const Path& path, std::string message, std::string hint) {
  mistakes_.push_back({file_, place.line, place.column, path.text(), std::move(message), std::move(hint)});
  unreadable_.push_back(path);
}

void Reading::wrong_kind(const Item& item, std::string_view wanted, std::string_view hint) {
  mistake(item, fmt::format("{} where {} should be", kind_of(item.node), wanted), std::string(hint));
}

void Reading::unknown_key(const Item& table, const Entry& entry, std::span<const std::string_view> known) {
  mistake(entry.place, table.path / entry.key, "unknown key", suggest(entry.key, known));
  // The key that was meant is not missing: it is misspelled.
  if (const auto meant = nearest(entry.key, known)) unreadable_.push_back(table.path / *meant);
}

void Reading::take(const std::vector<Finding>& findings, const Node& root) {
  for (const Finding& finding : findings) {
    if (unreadable(finding)) continue;
    const Places places = places_of(root, finding.path);
    const Place place = finding.about_key ? places.key : places.value;
    mistakes_.push_back({file_, place.line, place.column, finding.path.text(), finding.message, finding.hint});
  }
}

void Reading::take(Reading part) { std::ranges::move(part.mistakes_, std::back_inserter(mistakes_)); }

bool Reading::unreadable(const Finding& finding) const {
  return std::ranges::any_of(unreadable_, [&](const Path& path) {
    return path.leads_to(finding.path) ||
           std::ranges::any_of(finding.also, [&](const Path& other) { return path.touches(other); });
  });
}

std::vector<Mistake> Reading::mistakes() && {
  std::ranges::sort(mistakes_, {}, [](const Mistake& m) { return std::tie(m.line, m.column, m.key, m.message); });
  return std::move(mistakes_);
}

const Table* table_in(Reading& reading, const Item& item) {
  const auto* table = std::get_if<Table>(&item.node.value);
  if (table == nullptr) reading.wrong_kind(item, "a table", "a table has keys: [header] or { key = value }");
  return table;
}

const Array* array_in(Reading& reading, const Item& item, std::string_view hint) {
  const auto* array = std::get_if<Array>(&item.node.value);
  if (array == nullptr) reading.wrong_kind(item, "an array", hint);
  return array;
}

const std::string* string_in(Reading& reading, const Item& item, std::string_view hint) {
  const auto* text = std::get_if<std::string>(&item.node.value);
  if (text == nullptr) reading.wrong_kind(item, "a string", hint);
  return text;
}

void read(Reading& reading, const Item& item, std::string& value) {
  const std::string* text = string_in(reading, item, "write it in quotes");
  if (text == nullptr) return;
  // An empty text would be taken for one that is not declared.
  if (text->empty()) return reading.mistake(item, "is empty", "leave the key out, or give it a value");
  value = *text;
}

void read(Reading& reading, const Item& item, bool& value) {
  if (const auto* boolean = std::get_if<bool>(&item.node.value))
    value = *boolean;
  else
    reading.wrong_kind(item, "true or false", "without quotes");
}

void read(Reading& reading, const Item& item, std::int64_t& value) {
  if (const auto* number = std::get_if<std::int64_t>(&item.node.value))
    value = *number;
  else
    reading.wrong_kind(item, "an integer", "without quotes and without a point");
}

void read(Reading& reading, const Item& item, std::chrono::milliseconds& value) {
  const std::string* text = string_in(reading, item, duration_hint);
  if (text == nullptr) return;
  if (const auto duration = read_duration(*text))
    value = *duration;
  else
    reading.mistake(item, fmt::format("{} is no duration", in_quotes(*text)), std::string(duration_hint));
}

void read(Reading& reading, const Item& item, HorizonInputs::Span& value) {
  std::chrono::milliseconds duration{0};
  read(reading, item, duration);
  value = std::chrono::floor<std::chrono::seconds>(duration);
}

void read(Reading& reading, const Item& item, std::vector<std::string>& value) {
  const Array* array = array_in(reading, item, "[\"one\", \"two\"]");
  if (array == nullptr) return;
  for (std::size_t i = 0; i < array->size(); ++i) read(reading, {(*array)[i], item.path[i]}, value.emplace_back());
}

void no_such_choice(Reading& reading, const Item& item, std::string_view word, std::string_view what,
                    std::span<const std::string_view> words) {
  reading.mistake(item, fmt::format("{} is no {}", in_quotes(word), what), suggest(word, words));
}

}  // namespace onceward::declaration
