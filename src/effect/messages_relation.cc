#include "src/effect/messages_relation.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "src/common/json.h"
#include "src/common/stored_text.h"
#include "src/declaration/sql_names.h"

namespace onceward {
namespace {

constexpr std::uint32_t not_taken = ~std::uint32_t{0};

// What a column is read from.
struct Message {
  const Claimant& claimant;
  const EnvelopeFields& fields;
  std::uint32_t index;
  Timestamp received_at;
};

template <class Value>
using Read = std::optional<Value> (*)(const Message&);

// A text that a message does not carry is NULL.
std::optional<std::string_view> carried(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}
template <class Tag>
std::optional<std::string_view> carried(Id<Tag> id) {
  return carried(id.text());
}

std::string_view bytes_of(const PayloadHash& hash) {
  return {reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size()};
}

struct MessageColumn {
  std::string_view name;
  std::variant<Read<std::string_view>, Read<std::int64_t>, Read<Timestamp>, Read<Blob>, Read<Uuid>, Read<Json>> read;
  bool vouched = false;  // text that identify() has checked, or that is ours
};

template <class Value>
using As = std::optional<Value>;
using Text = std::string_view;
using Number = std::int64_t;

// In the order of declaration::message_columns().
constexpr MessageColumn message_columns[] = {
    {"message_id", [](const Message& message) -> As<Text> { return message.claimant.id.text(); }, true},
    {"event_id", [](const Message& message) { return carried(message.fields.event_id); }},
    {"command_id", [](const Message& message) { return carried(message.fields.command_id); }},
    {"type", [](const Message& message) { return carried(message.fields.event_type); }},
    {"event_version", [](const Message& message) { return message.fields.event_version; }},
    {"schema_version", [](const Message& message) { return message.fields.schema_version; }},
    {"aggregate_type", [](const Message& message) { return carried(message.fields.aggregate_type); }},
    {"aggregate_id", [](const Message& message) { return carried(message.fields.aggregate_id); }},
    {"aggregate_version", [](const Message& message) { return message.fields.aggregate_version; }},
    {"correlation_id", [](const Message& message) { return carried(message.fields.correlation_id); }},
    {"causation_id", [](const Message& message) { return carried(message.fields.causation_id); }},
    {"idempotency_key", [](const Message& message) { return carried(message.fields.idempotency_key); }},
    {"business_key", [](const Message& message) { return carried(message.fields.business_key); }},
    {"partition_key", [](const Message& message) { return carried(message.fields.partition_key); }},
    {"tenant", [](const Message& message) -> As<Text> { return message.claimant.tenant.text(); }, true},
    {"producer", [](const Message& message) -> As<Text> { return message.claimant.producer.text(); }, true},
    {"source", [](const Message& message) { return carried(message.fields.source); }},
    {"occurred_at", [](const Message& message) { return message.fields.occurred_at; }},
    {"received_at", [](const Message& message) -> As<Timestamp> { return message.received_at; }},
    {"mode", [](const Message& message) -> As<Text> { return name(message.fields.mode); }, true},
    {"content_type", [](const Message& message) { return carried(message.fields.content_type); }},
    {"trace_parent", [](const Message& message) { return carried(message.fields.trace_parent); }},
    {"headers", Read<Json>{}},  // made here, not borrowed
    {"payload", [](const Message& message) -> As<Blob> { return Blob{message.fields.payload}; }},
    {"payload_hash", [](const Message& message) -> As<Blob> { return Blob{bytes_of(message.claimant.payload_hash)}; }},
    {"message_key", [](const Message& message) -> As<Uuid> { return Uuid{message.claimant.key.bytes}; }},
    {"ordinal", [](const Message& message) -> As<Number> { return std::int64_t{message.index}; }},
};
constexpr std::size_t message_column_count = std::size(message_columns);

// As Envelope::header() answers: of several headers of one name the first counts.
void append_headers(std::string& out, std::span<const Header> headers) {
  out += '{';
  for (auto header = headers.begin(); header != headers.end(); ++header) {
    const bool repeated = std::ranges::find(headers.begin(), header, header->name, &Header::name) != header;
    if (repeated) continue;
    if (out.back() != '{') out += ',';
    append_json_string(out, header->name);
    out += ':';
    append_json_string(out, header->value);
  }
  out += '}';
}

std::optional<Refusal> refusal_of(std::string_view text, std::string_view column) {
  switch (flaw_of(text)) {
    case TextFlaw::none:
      return std::nullopt;
    case TextFlaw::nul:
      return Refusal{Reason::nul_in_text, std::string(column)};
    case TextFlaw::not_utf8:
      return Refusal{Reason::invalid_utf8, std::string(column)};
  }
  return std::nullopt;
}

}  // namespace

MessagesRelation::MessagesRelation(const Declaration& declaration)
    : fields_(declaration.fields, declaration.limits.depth),
      first_room_(first_room_bytes),
      room_(first_room_.data(), first_room_.size()) {
  for (const MessageColumn& column : message_columns) {
    names_.push_back(column.name);
    std::visit([&]<class Value>(Read<Value>) { buffers_.emplace_back(std::in_place_type<ColumnBuffer<Value>>); },
               column.read);
  }
  assert(std::ranges::equal(names_, declaration::message_columns()));
  for (const FieldDeclaration& field : declaration.fields) names_.push_back(field.name);
  columns_.resize(names_.size());
}

void MessagesRelation::offer(std::span<const std::uint32_t> columns) {
  offered_.clear(), offered_fields_.clear();
  for (const std::uint32_t number : columns) {
    if (number < message_column_count)
      offered_.push_back(number);
    else
      offered_fields_.push_back(number - static_cast<std::uint32_t>(message_column_count));
  }
}

void MessagesRelation::begin(std::span<const Claimant> batch, Timestamp received_at) {
  batch_ = batch;
  received_at_ = received_at;
  fields_.clear();
  row_of_.assign(batch.size(), not_taken);
}

std::optional<Refusal> MessagesRelation::take(std::uint32_t index) {
  const Claimant& claimant = batch_[index];
  if (auto refusal = flaw_in(claimant)) return refusal;
  if (auto refusal = fields_.add(*claimant.envelope)) return refusal;
  row_of_[index] = static_cast<std::uint32_t>(fields_.size() - 1);
  return std::nullopt;
}

std::optional<Refusal> MessagesRelation::flaw_in(const Claimant& claimant) const {
  const Message message{claimant, claimant.envelope->fields(), 0, {}};
  for (const std::uint32_t number : offered_) {
    const MessageColumn& column = message_columns[number];
    if (std::holds_alternative<Read<Json>>(column.read)) {
      for (const Header& header : message.fields.headers) {
        for (const std::string_view text : {header.name, header.value}) {
          if (auto refusal = refusal_of(text, column.name)) return refusal;
        }
      }
    } else if (const auto* read = std::get_if<Read<std::string_view>>(&column.read); read && !column.vouched) {
      if (auto refusal = refusal_of((*read)(message).value_or(""), column.name)) return refusal;
    }
  }
  return std::nullopt;
}

void MessagesRelation::show(std::span<const std::uint32_t> indexes) {
  room_.release();
  for (const std::uint32_t number : offered_) show_message_column(number, indexes);
  if (!offered_fields_.empty()) show_fields(indexes);
}

void MessagesRelation::show_message_column(std::uint32_t number, std::span<const std::uint32_t> indexes) {
  std::visit(
      [&]<class Value>(Read<Value> read) {
        auto& buffer = std::get<ColumnBuffer<Value>>(buffers_[number]);
        buffer.clear();
        for (const std::uint32_t index : indexes) {
          const Claimant& claimant = batch_[index];
          const EnvelopeFields& fields = claimant.envelope->fields();
          if constexpr (std::is_same_v<Value, Json>) {
            scratch_.clear();
            append_headers(scratch_, fields.headers);
            char* const kept = static_cast<char*>(room_.allocate(scratch_.size(), 1));
            std::memcpy(kept, scratch_.data(), scratch_.size());
            buffer.add(Json{{kept, scratch_.size()}});
          } else if (const auto value = read(Message{claimant, fields, index, received_at_})) {
            buffer.add(*value);
          } else {
            buffer.add_null();
          }
        }
        columns_[number] = {names_[number], buffer.values(), buffer.present()};
      },
      message_columns[number].read);
}

void MessagesRelation::show_fields(std::span<const std::uint32_t> indexes) {
  rows_.clear();
  bool all = indexes.size() == fields_.size();  // as they stand, without picking
  for (const std::uint32_t index : indexes) {
    assert(row_of_[index] != not_taken);
    all = all && row_of_[index] == rows_.size();
    rows_.push_back(row_of_[index]);
  }
  const auto columns = fields_.columns();
  for (const std::uint32_t field : offered_fields_) {
    columns_[message_column_count + field] = all ? columns[field] : fields_.column(field, rows_);
  }
}

}  // namespace onceward
