#include "src/wire/wire.h"

#include <algorithm>
#include <deque>

#include "src/envelope/cloudevent.h"
#include "src/envelope/payload.h"
#include "src/wire/trace.h"

namespace onceward {
namespace {

// Without its parameters; media types have no case.
bool is_media_type(std::string_view content_type, std::string_view wanted) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const std::size_t end = type.find_last_not_of(' ');
  return std::ranges::equal(type.substr(0, end == type.npos ? 0 : end + 1), wanted, {}, lower, lower);
}

WireFormat format_of(const BinaryMessage& message, std::string_view prefix) {
  if (is_media_type(message.content_type, cloudevent_content_type)) return WireFormat::structured;
  if (is_media_type(message.content_type, envelope_content_type)) return WireFormat::envelope;
  const auto says_so = [&](const Header& header) { return is_attribute(header.name, "specversion", prefix); };
  return std::ranges::any_of(message.headers, says_so) ? WireFormat::binary : WireFormat::native;
}

std::string kept_name(const TextMember& member) { return std::string(kept_prefix) + std::string(member.json); }

// Nobody has said that the broker's properties mean what the message means: they are kept, and decide nothing.
Envelope with_native(const Envelope& event, const Envelope& native) {
  EnvelopeFields fields = event.fields();
  std::deque<std::string> names;
  std::vector<Header> headers(fields.headers.begin(), fields.headers.end());
  for (const TextMember& member : kTextMembers) {
    const std::string_view text = member.get(native.fields());
    if (text.empty() || text == member.get(fields)) continue;
    headers.push_back({names.emplace_back(kept_name(member)), text});
  }
  fields.headers = headers;
  if (!fields.occurred_at) fields.occurred_at = native.occurred_at();
  return Envelope::copy_of(fields);
}

Envelope unread(const Envelope& native, std::string_view content_type, Reason reason) {
  EnvelopeFields fields;
  fields.content_type = content_type;
  fields.headers = native.headers();
  fields.payload = native.payload();
  fields.unread = reason;
  return with_native(Envelope(fields, nullptr), native);
}

}  // namespace

std::optional<ReadEnvelope> read_wire(const BinaryMessage& message, std::string_view prefix, WireFormat format,
                                      const EnvelopeLimits& limits) {
  switch (format == WireFormat::automatic ? format_of(message, prefix) : format) {
    case WireFormat::envelope:
      return with_trace(read_json_envelope(message.payload, limits), message.headers, limits);
    case WireFormat::structured:
      return with_trace(read_cloudevent(message.payload, limits), message.headers, limits);
    case WireFormat::binary:
      return read_cloudevent({TracedHeaders(message.headers, prefix).get(), message.content_type, message.payload},
                             prefix, limits);
    case WireFormat::automatic:
    case WireFormat::native:
      break;
  }
  return std::nullopt;
}

Delivery delivery_of(ReadEnvelope read, const Bytes& body) {
  Delivery delivery;
  if (auto* const envelope = std::get_if<Envelope>(&read)) {
    delivery.envelope = std::move(*envelope);
    return delivery;
  }
  delivery.refusal = std::get<Refusal>(std::move(read));
  EnvelopeFields fields;
  fields.content_type = envelope_content_type;
  fields.payload = body.view();
  fields.unread = delivery.refusal->reason;
  delivery.envelope = Envelope(fields, body.owner());
  return delivery;
}

Delivery refused_delivery(Refusal refusal, const BinaryMessage& message, std::string_view prefix, WireFormat format,
                          const Envelope& native) {
  Delivery delivery;
  switch (format == WireFormat::automatic ? format_of(message, prefix) : format) {
    case WireFormat::envelope:
      delivery.envelope = unread(native, envelope_content_type, refusal.reason);
      break;
    case WireFormat::structured:
      delivery.envelope = unread(native, cloudevent_content_type, refusal.reason);
      break;
    case WireFormat::binary:
      delivery.envelope = with_native(
          found_in({TracedHeaders(message.headers, prefix).get(), message.content_type, message.payload}, prefix),
          native);
      break;
    case WireFormat::automatic:
    case WireFormat::native:
      delivery.envelope = native;
  }
  delivery.refusal = std::move(refusal);
  return delivery;
}

void keep_text(EnvelopeBuilder& builder, const TextMember& member, std::string_view text) {
  if (is_text(text)) {
    member.set(builder.fields, builder.keep(text));
  } else {
    builder.add_header(builder.keep(kept_name(member)), builder.keep(text));
  }
}

std::string missing_for_cloudevent(const Envelope& envelope) {
  const EnvelopeFields& fields = envelope.fields();
  if (fields.message_id.empty()) return "messageId";
  if (fields.producer.empty()) return "producer";
  return fields.event_type.empty() ? "eventType" : "";
}

Written write_wire(const Envelope& envelope, std::string_view prefix, WireFormat format) {
  Written written;
  const std::string missing = missing_for_cloudevent(envelope);
  if (format == WireFormat::automatic && envelope.fields().unread) format = WireFormat::native;
  if (format == WireFormat::automatic && !missing.empty()) format = WireFormat::envelope;
  if ((format == WireFormat::binary || format == WireFormat::structured) && !missing.empty()) {
    written.wrong = "a CloudEvent needs messageId, producer and eventType, and " + missing + " is missing";
  }
  const auto own = [&](std::string body, std::string_view content_type) {
    written.own_body = std::move(body);
    written.owns_body = true;
    written.content_type = content_type;
  };
  if (format == WireFormat::envelope) {
    own(write_json_envelope(envelope), envelope_content_type);
  } else if (format == WireFormat::structured) {
    own(write_cloudevent(envelope), cloudevent_content_type);
  } else {
    written.payload = envelope.payload();
    written.content_type = envelope.fields().content_type;
    if (format != WireFormat::native) written.headers = cloudevent_attributes(envelope, prefix);
  }
  if (format == WireFormat::native) {
    for (const Header& header : envelope.headers()) {
      written.headers.push_back({std::string(header.name), std::string(header.value)});
    }
  }
  add_trace(written.headers, envelope);
  return written;
}

}  // namespace onceward
