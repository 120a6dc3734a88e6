// [[consumer.call]]. A body that is written as TOML becomes JSON text; what its texts hold is judged by the rules.
#include <fmt/format.h>

#include <cmath>

#include "src/common/json.h"
#include "src/declaration/endpoint.h"

namespace onceward::declaration {
namespace {

// As deep as the document, whose limits bound it.
void append_json(Reading& reading, const Item& item, std::string& json);

void append_object(Reading& reading, const Item& item, const Table& table, std::string& json) {
  json += '{';
  for (const Entry& entry : table.entries) {
    if (json.back() != '{') json += ',';
    append_json_string(json, entry.key);
    json += ':';
    append_json(reading, {entry.value, item.path / entry.key}, json);
  }
  json += '}';
}

void append_array(Reading& reading, const Item& item, const Array& array, std::string& json) {
  json += '[';
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0) json += ',';
    append_json(reading, {array[i], item.path[i]}, json);
  }
  json += ']';
}

void append_json(Reading& reading, const Item& item, std::string& json) {
  const auto& value = item.node.value;
  if (const auto* text = std::get_if<std::string>(&value)) {
    append_json_string(json, *text);
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    json += fmt::format("{}", *whole);
  } else if (const auto* number = std::get_if<double>(&value)) {
    if (!std::isfinite(*number)) return reading.mistake(item, "JSON has no such number", "write it as a text");
    json += fmt::format("{}", *number);
  } else if (const auto* boolean = std::get_if<bool>(&value)) {
    json += *boolean ? "true" : "false";
  } else if (const auto* array = std::get_if<Array>(&value)) {
    append_array(reading, item, *array, json);
  } else if (const auto* table = std::get_if<Table>(&value)) {
    append_object(reading, item, *table, json);
  } else {
    reading.mistake(item, "JSON has no dates and times", "write it as a text, in quotes");
  }
}

void read_body(Reading& reading, const Item& item, CallDeclaration& call) {
  const bool is_text = std::holds_alternative<std::string>(item.node.value);
  if (is_text) return read(reading, item, call.body);
  const bool has_members =
      std::holds_alternative<Table>(item.node.value) || std::holds_alternative<Array>(item.node.value);
  if (!has_members)
    return reading.wrong_kind(item, "a body", R"("{payload}", or a table: { amount = "{amount}", currency = "EUR" })");
  call.body.clear();
  append_json(reading, item, call.body);
}

}  // namespace

void read(Reading& reading, const Item& item, std::vector<CallDeclaration>& calls) {
  constexpr Key<CallDeclaration> keys[] = {{"endpoint", into<&CallDeclaration::endpoint>},
                                           {"key", into<&CallDeclaration::key>},
                                           {"type", into<&CallDeclaration::type>},
                                           {"business_key", into<&CallDeclaration::business_key>},
                                           {"body", read_body},
                                           {"approval", into<&CallDeclaration::approval>},
                                           {"requested_by", into<&CallDeclaration::requested_by>}};
  const Array* array = array_in(reading, item, "each call under a header [[consumer.call]]");
  if (array == nullptr) return;
  for (std::size_t i = 0; i < array->size(); ++i)  // one for each element, so that a finding's index is the file's
    read_table(reading, {(*array)[i], item.path[i]}, keys, calls.emplace_back());
}

}  // namespace onceward::declaration
