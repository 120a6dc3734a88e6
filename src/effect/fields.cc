#include "src/effect/fields.h"

#include <charconv>
#include <cstring>

#include "src/common/base64.h"
#include "src/common/decimal.h"
#include "src/common/timestamp.h"
#include "src/common/uuid.h"

namespace onceward {
namespace {

std::optional<Reason> reason_of(DecimalFault fault) {
  switch (fault) {
    case DecimalFault::none:
      return std::nullopt;
    case DecimalFault::not_a_number:
      return Reason::ill_typed_field;
    case DecimalFault::not_exact:
      return Reason::number_out_of_range;
  }
  return Reason::ill_typed_field;
}

}  // namespace

FieldColumns::FieldColumns(std::span<const FieldDeclaration> fields, std::size_t depth)
    : places_(fields),
      depth_{depth, places_.depth()},
      first_room_(first_room_bytes),
      room_(first_room_.data(), first_room_.size()) {
  for (const FieldDeclaration& field : fields)
    fields_.push_back({&field, buffer_for(field.type), buffer_for(field.type)});
}

FieldColumns::Buffer FieldColumns::buffer_for(FieldType type) {
  switch (type) {
    case FieldType::text:
      return ColumnBuffer<std::string_view>();
    case FieldType::int64:
    case FieldType::decimal:
      return ColumnBuffer<std::int64_t>();
    case FieldType::boolean:
      return ColumnBuffer<bool>();
    case FieldType::timestamp:
      return ColumnBuffer<Timestamp>();
    case FieldType::uuid:
      return ColumnBuffer<Uuid>();
    case FieldType::bytes:
      return ColumnBuffer<Blob>();
  }
  return ColumnBuffer<std::string_view>();
}

void FieldColumns::clear() {
  rows_ = 0;
  for (Field& field : fields_) std::visit([](auto& buffer) { buffer.clear(); }, field.all);
  room_.release();
}

std::optional<Refusal> FieldColumns::add(const Envelope& envelope) {
  if (!fields_.empty()) {
    const auto parsed = parse_json(envelope.payload(), depth_);
    if (const Reason* reason = std::get_if<Reason>(&parsed)) return Refusal{*reason, "payload"};
    const JsonDocument& document = std::get<JsonDocument>(parsed);
    const auto places = places_.find(document);
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto reason = take(fields_[i], document, places[i]);
      if (!reason) continue;
      for (Field& field : fields_) std::visit([&](auto& buffer) { buffer.cut(rows_); }, field.all);
      return Refusal{*reason, fields_[i].declared->name};
    }
  }
  ++rows_;
  return std::nullopt;
}

std::optional<Reason> FieldColumns::take(Field& field, const JsonDocument& document, std::uint32_t place) {
  if (place == FieldPlaces::ambiguous) return Reason::duplicate_field;
  const JsonNode& node = document.nodes[place];
  if (place != FieldPlaces::nowhere && node.kind != JsonKind::null) return convert(field, document, node);
  if (!field.declared->optional) return Reason::missing_field;
  std::visit([](auto& buffer) { buffer.add_null(); }, field.all);
  return std::nullopt;
}

std::optional<Reason> FieldColumns::convert(Field& field, const JsonDocument& document, const JsonNode& node) {
  switch (field.declared->type) {
    case FieldType::text:
      return add_text(field, document, node);
    case FieldType::int64:
    case FieldType::decimal:
      return add_number(field, document, node);
    case FieldType::boolean:
      if (node.kind != JsonKind::boolean) return Reason::ill_typed_field;
      std::get<ColumnBuffer<bool>>(field.all).add(document.raw(node) == "true");
      return std::nullopt;
    case FieldType::timestamp:
    case FieldType::uuid:
    case FieldType::bytes:
      if (node.kind != JsonKind::string) return Reason::ill_typed_field;
      return add_from_text(field, text_of(document, node, scratch_));
  }
  return Reason::ill_typed_field;
}

std::optional<Reason> FieldColumns::add_text(Field& field, const JsonDocument& document, const JsonNode& node) {
  if (node.kind != JsonKind::string) return Reason::ill_typed_field;
  std::string_view text = text_of(document, node, scratch_);
  if (node.escaped) {
    if (text.find('\0') != std::string_view::npos) return Reason::nul_in_text;
    text = kept(text);
  }
  std::get<ColumnBuffer<std::string_view>>(field.all).add(text);
  return std::nullopt;
}

std::optional<Reason> FieldColumns::add_number(Field& field, const JsonDocument& document, const JsonNode& node) {
  auto& numbers = std::get<ColumnBuffer<std::int64_t>>(field.all);
  if (field.declared->type == FieldType::decimal) {
    if (node.kind != JsonKind::number && node.kind != JsonKind::string) return Reason::ill_typed_field;
    const std::string_view text =
        node.kind == JsonKind::number ? document.raw(node) : text_of(document, node, scratch_);
    const Decimal decimal = read_decimal(text, field.declared->scale);
    if (decimal.fault == DecimalFault::none) numbers.add(decimal.minor_units);
    return reason_of(decimal.fault);
  }
  if (node.kind != JsonKind::number) return Reason::ill_typed_field;
  const std::string_view text = document.raw(node);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) return Reason::ill_typed_field;  // a point or an exponent
  if (error != std::errc()) return Reason::number_out_of_range;
  numbers.add(number);
  return std::nullopt;
}

std::optional<Reason> FieldColumns::add_from_text(Field& field, std::string_view text) {
  if (auto* times = std::get_if<ColumnBuffer<Timestamp>>(&field.all)) {
    const auto time = read_timestamp(text);
    if (!time) return Reason::malformed_time;
    times->add(*time);
  } else if (auto* uuids = std::get_if<ColumnBuffer<Uuid>>(&field.all)) {
    const auto uuid = read_uuid(text);
    if (!uuid) return Reason::ill_typed_field;
    uuids->add(Uuid{*uuid});
  } else {
    const auto bytes = from_base64(text);
    if (!bytes) return Reason::ill_typed_field;
    std::get<ColumnBuffer<Blob>>(field.all).add(Blob{kept(*bytes)});
  }
  return std::nullopt;
}

std::string_view FieldColumns::kept(std::string_view text) {
  if (text.empty()) return {};
  char* const copy = static_cast<char*>(room_.allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

Column FieldColumns::column_of(const FieldDeclaration& declared, const Buffer& buffer) {
  return std::visit(
      [&](const auto& held) {
        Column column{declared.name, held.values(), held.present()};
        if (declared.type == FieldType::decimal) {
          column.values = Decimals{std::get<std::span<const std::int64_t>>(column.values), declared.scale};
        }
        return column;
      },
      buffer);
}

std::span<const Column> FieldColumns::columns() {
  columns_.clear();
  for (const Field& field : fields_) columns_.push_back(column_of(*field.declared, field.all));
  return columns_;
}

Column FieldColumns::column(std::size_t index, std::span<const std::uint32_t> rows) {
  Field& field = fields_[index];
  std::visit([&](const auto& all) { std::get<std::decay_t<decltype(all)>>(field.picked).pick(all, rows); }, field.all);
  return column_of(*field.declared, field.picked);
}

}  // namespace onceward
