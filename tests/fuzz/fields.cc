// Any payload is refused or becomes one row: every column has as many rows as were accepted, text is text, and a decimal is
// the number that was written.
#include "src/effect/fields.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/common/decimal.h"
#include "src/common/stored_text.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

namespace {

const std::vector<once::FieldDeclaration>& fields() {
  using Type = once::FieldType;
  static const std::vector<once::FieldDeclaration> all = {
      {"t", "/t", Type::text, 0, true},     {"i", "/i", Type::int64, 0, true},
      {"b", "/b", Type::boolean, 0, true},  {"at", "/at", Type::timestamp, 0, true},
      {"u", "/u", Type::uuid, 0, true},     {"y", "/y", Type::bytes, 0, true},
      {"d", "/d", Type::decimal, 2, true},  {"a1", "/n/a/1", Type::text, 0, true},
      {"x", "/1/1", Type::decimal, 0, true}};
  return all;
}

void require_rows(std::span<const once::Column> columns, std::size_t rows) {
  for (const once::Column& column : columns) {
    ONCEWARD_REQUIRE(rows_of(column) == rows);
    ONCEWARD_REQUIRE(column.present.empty() || column.present.size() == rows);
  }
}

// Written out and read again it is the same.
void require_exact(std::int64_t minor_units, int scale) {
  const std::string text = std::to_string(minor_units) + "e-" + std::to_string(scale);
  const once::Decimal decimal = once::read_decimal(text, scale);
  ONCEWARD_REQUIRE(decimal.fault == once::DecimalFault::none && decimal.minor_units == minor_units);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static once::FieldColumns columns(fields(), 32);
  once::EnvelopeFields parts;
  parts.payload = {reinterpret_cast<const char*>(data), size};
  const once::Envelope envelope(parts, nullptr);
  columns.clear();
  const auto refusal = columns.add(envelope);
  const std::size_t rows = refusal ? 0 : 1;
  ONCEWARD_REQUIRE(columns.size() == rows);
  require_rows(columns.columns(), rows);
  if (refusal) {
    bool named = refusal->detail == "payload";
    for (const once::FieldDeclaration& field : fields()) named |= refusal->detail == field.name;
    ONCEWARD_REQUIRE(named);
    return 0;
  }
  for (const once::Column& column : columns.columns()) {
    if (const auto* texts = std::get_if<std::span<const std::string_view>>(&column.values))
      ONCEWARD_REQUIRE(once::flaw_of((*texts)[0]) == once::TextFlaw::none);
    if (const auto* decimals = std::get_if<once::Decimals>(&column.values))
      require_exact(decimals->minor_units[0], decimals->scale);
  }
  ONCEWARD_REQUIRE(!columns.add(envelope));
  require_rows(columns.columns(), 2);
  return 0;
}
