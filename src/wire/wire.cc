#include "src/wire/wire.h"

#include <algorithm>

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

Delivery delivery_of(ReadEnvelope read, const Bytes& bytes) {
  Delivery delivery;
  if (auto* const envelope = std::get_if<Envelope>(&read)) {
    delivery.envelope = std::move(*envelope);
    return delivery;
  }
  EnvelopeFields unread;
  unread.payload = bytes.view();
  delivery.envelope = Envelope(unread, bytes.owner());
  delivery.refusal = std::get<Refusal>(std::move(read));
  return delivery;
}

Written write_wire(const Envelope& envelope, std::string_view prefix, WireFormat format) {
  Written written;
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
