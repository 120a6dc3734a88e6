#include "adapters/postgres/relation.h"

#include <fmt/format.h>

#include "adapters/postgres/numeric.h"
#include "src/effect/relation.h"
#include "src/effect/sql_text.h"

namespace onceward::postgres {
namespace {

// In the order of the variant's members.
constexpr Type types[] = {int8_type, text_type, bytea_type,   timestamptz_type,
                          bool_type, uuid_type, numeric_type, jsonb_type};
static_assert(std::size(types) == std::variant_size_v<decltype(onceward::Column::values)>);

class Encoder {
 public:
  Encoder(Column& column, std::span<const bool> present) : column_(column), present_(present) {}

  void operator()(std::span<const std::int64_t> values) { fixed(values, 8); }
  void operator()(std::span<const Timestamp> values) { fixed(values, 8); }
  void operator()(std::span<const std::string_view> values) {
    column_.reserve(values.size(), bytes_of(values, [](std::string_view text) { return text.size(); }));
    rows(values, [&](std::string_view text) { column_.add(text); });
  }
  void operator()(std::span<const Blob> values) {
    column_.reserve(values.size(), bytes_of(values, [](const Blob& blob) { return blob.bytes.size(); }));
    rows(values, [&](const Blob& blob) { column_.add(blob.bytes); });
  }
  void operator()(std::span<const bool> values) {
    column_.reserve(values.size(), values.size());
    rows(values, [&](bool value) { column_.add(std::string_view(value ? "\1" : "\0", 1)); });
  }
  void operator()(std::span<const Uuid> values) {
    column_.reserve(values.size(), 16 * values.size());
    rows(values, [&](const Uuid& uuid) {
      column_.add(std::string_view(reinterpret_cast<const char*>(uuid.bytes.data()), uuid.bytes.size()));
    });
  }
  void operator()(const Decimals& decimals) {
    column_.reserve(decimals.size(), 14 * decimals.size());
    rows(decimals.minor_units,
         [&](std::int64_t minor_units) { column_.add(NumericBytes(minor_units, decimals.scale).view()); });
  }
  void operator()(std::span<const Json> values) {
    std::string versioned;
    rows(values, [&](const Json& json) {
      versioned.assign(1, '\1').append(json.text);
      column_.add(versioned);
    });
  }

 private:
  // One loop for a column without nulls, one for a column with them.
  template <class Value, class Add>
  void rows(std::span<const Value> values, Add&& add) {
    if (present_.empty()) {
      for (const Value& value : values) add(value);
      return;
    }
    for (std::size_t row = 0; row < values.size(); ++row) present_[row] ? add(values[row]) : column_.add_null();
  }

  template <class Value>
  void fixed(std::span<const Value> values, std::size_t width) {
    column_.reserve(values.size(), width * values.size());
    rows(values, [&](const Value& value) { column_.add(value); });
  }

  template <class Value, class Size>
  static std::size_t bytes_of(std::span<const Value> values, Size&& size) {
    std::size_t bytes = 0;
    for (const Value& value : values) bytes += size(value);
    return bytes;
  }

  Column& column_;
  std::span<const bool> present_;
};

}  // namespace

OverRelation over(const Relation& relation, std::string_view sql) {
  checked_rows(relation);
  OverRelation made;
  made.columns.reserve(relation.columns.size());
  std::string expressions;
  for (const auto& source : relation.columns) {
    const Type& type = types[source.values.index()];
    Column& column = made.columns.emplace_back(source.name, type, Column::Shape::always_array);
    std::visit(Encoder(column, source.present), source.values);
    expressions += fmt::format("{}unnest(${}::{}[]) AS {}", expressions.empty() ? "" : ", ", made.columns.size(),
                               type.name, quoted(source.name));
  }
  made.sql = with_table(fmt::format("{} AS (SELECT {})", quoted(relation.name), expressions), sql);
  return made;
}

}  // namespace onceward::postgres
