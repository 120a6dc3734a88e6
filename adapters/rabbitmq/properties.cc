#include "adapters/rabbitmq/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "adapters/rabbitmq/limits.h"
#include "adapters/rabbitmq/replies.h"
#include "src/common/base64.h"
#include "src/common/json.h"
#include "src/common/timestamp.h"
#include "src/envelope/builder.h"
#include "src/envelope/payload.h"
#include "src/wire/trace.h"

namespace onceward::rabbitmq {
namespace {

constexpr std::string_view count_header = "x-delivery-count";
constexpr std::size_t most_table_bytes = 64 * 1024;  // half of a frame, into which the properties must fit
constexpr int deepest_table = 16;

constexpr const TextMember& member(std::string_view json) {
  return *std::ranges::find(kTextMembers, json, &TextMember::json);
}

std::optional<Timestamp> time_of(std::uint64_t seconds) {
  if (seconds > 253'402'300'799) return std::nullopt;  // the end of 9999
  return Timestamp(std::chrono::seconds(seconds));
}

// As JSON has it where `inside` something; a text alone stands without quotes.
void append(std::string& out, const amqp_field_value_t& field, int depth);

void append_text(std::string& out, std::string_view text, int depth) {
  if (depth == 0) {
    out += text;
  } else if (is_text(text)) {
    append_json_string(out, text);
  } else {
    append_json_string(out, to_base64(text));
  }
}

void append_table(std::string& out, const amqp_table_t& table, int depth) {
  out += '{';
  for (int i = 0; i < table.num_entries; ++i) {
    if (i > 0) out += ',';
    append_text(out, view(table.entries[i].key), depth);
    out += ':';
    append(out, table.entries[i].value, depth);
  }
  out += '}';
}

void append_array(std::string& out, const amqp_array_t& array, int depth) {
  out += '[';
  for (int i = 0; i < array.num_entries; ++i) {
    if (i > 0) out += ',';
    append(out, array.entries[i], depth);
  }
  out += ']';
}

void append_decimal(std::string& out, const amqp_decimal_t& decimal) {
  // The library has no sign for it; the specification and other clients do.
  const auto value = static_cast<std::int64_t>(static_cast<std::int32_t>(decimal.value));
  if (value < 0) out += '-';
  std::string digits = std::to_string(value < 0 ? -value : value);
  const std::size_t places = decimal.decimals;
  if (places > 0 && digits.size() <= places) digits.insert(0, places - digits.size() + 1, '0');
  if (places > 0) digits.insert(digits.size() - places, 1, '.');
  out += digits;
}

void append_time(std::string& out, std::uint64_t seconds, int depth) {
  const auto time = time_of(seconds);
  append_text(out, time ? write_timestamp(*time) : std::to_string(seconds), depth);
}

void append(std::string& out, const amqp_field_value_t& field, int depth) {
  const auto& value = field.value;
  const auto number = [&](auto is) { fmt::format_to(std::back_inserter(out), "{}", is); };
  switch (field.kind) {
    case AMQP_FIELD_KIND_BOOLEAN:
      return number(value.boolean != 0);
    case AMQP_FIELD_KIND_I8:
      return number(static_cast<int>(value.i8));
    case AMQP_FIELD_KIND_U8:
      return number(static_cast<int>(value.u8));
    case AMQP_FIELD_KIND_I16:
      return number(value.i16);
    case AMQP_FIELD_KIND_U16:
      return number(value.u16);
    case AMQP_FIELD_KIND_I32:
      return number(value.i32);
    case AMQP_FIELD_KIND_U32:
      return number(value.u32);
    case AMQP_FIELD_KIND_I64:
      return number(value.i64);
    case AMQP_FIELD_KIND_U64:
      return number(value.u64);
    case AMQP_FIELD_KIND_F32:
      return number(value.f32);
    case AMQP_FIELD_KIND_F64:
      return number(value.f64);
    case AMQP_FIELD_KIND_DECIMAL:
      return append_decimal(out, value.decimal);
    case AMQP_FIELD_KIND_TIMESTAMP:
      return append_time(out, value.u64, depth);
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES:
      return append_text(out, view(value.bytes), depth);
    case AMQP_FIELD_KIND_TABLE:
    case AMQP_FIELD_KIND_ARRAY:
      if (depth >= deepest_table) break;
      return field.kind == AMQP_FIELD_KIND_TABLE ? append_table(out, value.table, depth + 1)
                                                 : append_array(out, value.array, depth + 1);
    default:
      break;
  }
  out += depth == 0 ? "" : "null";
}

std::optional<std::uint64_t> whole_number(const amqp_field_value_t& field) {
  const std::string text = text_of(field);
  const auto read = read_integer(text);
  return read && *read >= 0 ? std::optional(static_cast<std::uint64_t>(*read)) : std::nullopt;
}

bool has(const amqp_basic_properties_t& properties, amqp_flags_t flag) { return (properties._flags & flag) != 0; }

struct TextProperty {
  amqp_flags_t flag;
  amqp_bytes_t amqp_basic_properties_t::* member;
  const TextMember* field;
};
constexpr std::array native_properties{
    TextProperty{AMQP_BASIC_MESSAGE_ID_FLAG, &amqp_basic_properties_t::message_id, &member("messageId")},
    TextProperty{AMQP_BASIC_APP_ID_FLAG, &amqp_basic_properties_t::app_id, &member("producer")},
    TextProperty{AMQP_BASIC_TYPE_FLAG, &amqp_basic_properties_t::type, &member("eventType")},
    TextProperty{AMQP_BASIC_CORRELATION_ID_FLAG, &amqp_basic_properties_t::correlation_id, &member("correlationId")},
    TextProperty{AMQP_BASIC_CONTENT_TYPE_FLAG, &amqp_basic_properties_t::content_type, &member("contentType")},
};

}  // namespace

std::string text_of(const amqp_field_value_t& value) {
  std::string text;
  append(text, value, 0);
  return text;
}

void MessageReader::take_headers(const amqp_table_t& table) {
  for (int i = 0; i < table.num_entries; ++i) {
    const amqp_table_entry_t& entry = table.entries[i];
    const std::string_view name = view(entry.key);
    if (name == count_header) {
      const std::uint64_t before = whole_number(entry.value).value_or(0);
      deliveries_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(before + 1, UINT32_MAX));
      continue;
    }
    const bool is_bytes = entry.value.kind == AMQP_FIELD_KIND_UTF8 || entry.value.kind == AMQP_FIELD_KIND_BYTES;
    const std::string_view value =
        is_bytes ? view(entry.value.value.bytes) : std::string_view(texts_.emplace_back(text_of(entry.value)));
    headers_.push_back({name, value});
  }
}

Delivery MessageReader::read(const amqp_basic_properties_t& properties, const Bytes& body) {
  headers_.clear();
  texts_.clear();
  deliveries_ = 0;
  if (has(properties, AMQP_BASIC_HEADERS_FLAG)) take_headers(properties.headers);
  const std::string_view content_type =
      has(properties, AMQP_BASIC_CONTENT_TYPE_FLAG) ? view(properties.content_type) : std::string_view();
  const BinaryMessage message{headers_, content_type, body};
  auto read = read_wire(message, cloudevent_prefix, format_, limits_);
  if (!read) read = read_native(properties, body);
  auto* const refusal = std::get_if<Refusal>(&*read);
  Delivery delivery = refusal ? refused_delivery(std::move(*refusal), message, cloudevent_prefix, format_,
                                                 kept_native(properties, body))
                              : delivery_of(std::move(*read), body);
  delivery.deliveries = deliveries_;
  return delivery;
}

Envelope MessageReader::kept_native(const amqp_basic_properties_t& properties, const Bytes& body) const {
  EnvelopeBuilder builder(body, kNoLimits);
  for (const TextProperty& property : native_properties) {
    if (has(properties, property.flag)) keep_text(builder, *property.field, view(properties.*property.member));
  }
  if (has(properties, AMQP_BASIC_TIMESTAMP_FLAG)) builder.fields.occurred_at = time_of(properties.timestamp);
  for (const Header& header : headers_) {
    if (is_trace_parent(header) && builder.fields.trace_parent.empty()) {
      builder.fields.trace_parent = builder.keep(header.value);
    } else {
      builder.add_header(builder.keep(header.name), builder.keep(header.value));
    }
  }
  builder.fields.payload = body.view();
  return std::move(builder).finish();
}

ReadEnvelope MessageReader::read_native(const amqp_basic_properties_t& properties, const Bytes& body) const {
  if (body.view().size() > limits_.message_bytes) return Refusal{Reason::too_large, "message_bytes"};
  std::size_t text_bytes = 0;
  for (const Header& header : headers_) text_bytes += header.name.size() + header.value.size();
  if (text_bytes > most_table_bytes * 2) return Refusal{Reason::headers_too_large, "header_bytes"};
  for (const TextProperty& property : native_properties) {
    if (has(properties, property.flag)) text_bytes += (properties.*property.member).len;
  }
  EnvelopeBuilder builder(body, limits_);
  builder.make_room(text_bytes, std::min(headers_.size(), limits_.header_count));
  for (const TextProperty& property : native_properties) {
    if (!has(properties, property.flag)) continue;
    const std::string_view text = view(properties.*property.member);
    if (text.find('\0') == text.npos && !is_text(text)) {
      return Refusal{Reason::invalid_utf8, std::string(property.field->json)};
    }
    if (auto refusal = builder.set(*property.field, property.field->json, builder.keep(text)))
      return std::move(*refusal);
  }
  if (has(properties, AMQP_BASIC_TIMESTAMP_FLAG)) builder.fields.occurred_at = time_of(properties.timestamp);
  for (const Header& header : headers_) {
    if (is_trace_parent(header) && builder.fields.trace_parent.empty()) {
      builder.fields.trace_parent = builder.keep(header.value);
    } else if (auto refusal = builder.add_header(builder.keep(header.name), builder.keep(header.value))) {
      return std::move(*refusal);
    }
  }
  builder.fields.payload = body.view();
  return std::move(builder).finish();
}

void MessageWriter::set(std::string_view text, amqp_bytes_t amqp_basic_properties_t::* member, amqp_flags_t flag) {
  if (text.empty()) return;
  properties_.*member = bytes_of(text);
  properties_._flags |= flag;
}

std::variant<MessageWriter::Message, std::string> MessageWriter::write(const Envelope& envelope) {
  using Answer = std::variant<Message, std::string>;
  written_ = write_wire(envelope, cloudevent_prefix, format_);
  if (!written_.wrong.empty()) return Answer(std::in_place_index<1>, written_.wrong);
  const EnvelopeFields& fields = envelope.fields();
  properties_ = {};
  headers_.clear();
  std::size_t bytes = 0;
  for (const BinaryAttribute& header : written_.headers) {
    if (header.name.empty() || header.name.size() > most_short_bytes) {
      return Answer(std::in_place_index<1>, "a header's name has 1 to 255 bytes in AMQP");
    }
    amqp_table_entry_t& entry = headers_.emplace_back();
    entry.key = bytes_of(header.name);
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = bytes_of(header.value);
    bytes += header.name.size() + header.value.size() + 6;
  }
  for (const TextProperty& property : native_properties) {
    const bool is_content_type = property.flag == AMQP_BASIC_CONTENT_TYPE_FLAG;
    const std::string_view text =
        is_content_type ? std::string_view(written_.content_type) : property.field->get(fields);
    if (text.size() > most_short_bytes) {
      return Answer(std::in_place_index<1>,
                    fmt::format("{} is longer than the 255 bytes that AMQP has for it", property.field->json));
    }
    set(text, property.member, property.flag);
  }
  if (bytes > most_table_bytes) {
    return Answer(std::in_place_index<1>, fmt::format("its headers are more than {} bytes", most_table_bytes));
  }
  if (!headers_.empty()) {
    properties_.headers = {static_cast<int>(headers_.size()), headers_.data()};
    properties_._flags |= AMQP_BASIC_HEADERS_FLAG;
  }
  if (fields.occurred_at && fields.occurred_at->time_since_epoch().count() >= 0) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(*fields.occurred_at).time_since_epoch();
    properties_.timestamp = static_cast<std::uint64_t>(seconds.count());
    properties_._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
  }
  properties_.delivery_mode = 2;
  properties_._flags |= AMQP_BASIC_DELIVERY_MODE_FLAG;
  return Message{&properties_, written_.body(), bytes};
}

}  // namespace onceward::rabbitmq
