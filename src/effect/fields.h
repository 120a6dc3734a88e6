// The declared fields of messages, taken out of their JSON payloads into typed columns for a whole batch. Numbers are read
// from their text, never by way of a binary fraction; docs/reference/declaration.md says what each type takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/declaration.h"
#include "onceward/envelope.h"
#include "onceward/transaction.h"
#include "src/common/json.h"
#include "src/effect/column_buffer.h"
#include "src/effect/field_places.h"

namespace onceward {

inline constexpr std::size_t first_room_bytes = 16u << 10;  // for what cannot be borrowed

class FieldColumns {
 public:
  // `fields` must have no mistakes and outlive this; `depth` is the limit on a payload's.
  FieldColumns(std::span<const FieldDeclaration> fields, std::size_t depth);
  FieldColumns(const FieldColumns&) = delete;
  FieldColumns& operator=(const FieldColumns&) = delete;

  // Forgets all rows and keeps their memory.
  void clear();
  // Appends a row, or says why not and appends nothing; the detail is the field's name, or "payload". Without declared
  // fields every payload will do. The envelope must outlive the row: text is borrowed from its payload.
  std::optional<Refusal> add(const Envelope& envelope);
  std::size_t size() const { return rows_; }

  // All rows of each field, in the order of the declaration. Valid until the next add() or clear().
  std::span<const Column> columns();
  // These rows of one field. Valid until the next call for the same field.
  Column column(std::size_t field, std::span<const std::uint32_t> rows);

 private:
  using Buffer = std::variant<ColumnBuffer<std::int64_t>, ColumnBuffer<std::string_view>, ColumnBuffer<Blob>,
                              ColumnBuffer<Timestamp>, ColumnBuffer<bool>, ColumnBuffer<Uuid>>;
  struct Field {
    const FieldDeclaration* declared;
    Buffer all;
    Buffer picked;
  };

  static Buffer buffer_for(FieldType type);
  static Column column_of(const FieldDeclaration& declared, const Buffer& buffer);
  std::optional<Reason> take(Field& field, const JsonDocument& document, std::uint32_t place);
  std::optional<Reason> convert(Field& field, const JsonDocument& document, const JsonNode& node);
  std::optional<Reason> add_text(Field& field, const JsonDocument& document, const JsonNode& node);
  std::optional<Reason> add_number(Field& field, const JsonDocument& document, const JsonNode& node);
  std::optional<Reason> add_from_text(Field& field, std::string_view text);
  std::string_view kept(std::string_view text);

  std::vector<Field> fields_;
  FieldPlaces places_;
  const JsonDepth depth_;
  std::size_t rows_ = 0;
  std::vector<Column> columns_;
  std::vector<std::byte> first_room_;
  std::pmr::monotonic_buffer_resource room_;  // of what cannot be borrowed: text with escapes, decoded bytes
  std::string scratch_;
};

}  // namespace onceward
