// Messages as brokers carry them, headers beside a body, to and from envelopes. What is native to one broker (its own
// properties) is that adapter's business.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "onceward/port/source.h"
#include "onceward/wire_format.h"

namespace onceward {

// Content types that say what a body is.
inline constexpr std::string_view envelope_content_type = "application/vnd.onceward.envelope+json";
inline constexpr std::string_view cloudevent_content_type = "application/cloudevents+json";

// Reads by the format, with the trace that stands beside; `prefix` is that of the binding's CloudEvents attributes.
// Nothing: the message is native.
std::optional<ReadEnvelope> read_wire(const BinaryMessage& message, std::string_view prefix, WireFormat format,
                                      const EnvelopeLimits& limits);

// A delivery without a tag. What was refused keeps the exact bytes as its payload, beside the refusal.
Delivery delivery_of(ReadEnvelope read, const Bytes& bytes);

// What is to be sent of an envelope. In the native format, and for what the others have no place for, the envelope's own
// headers are headers. Its trace is beside it in every format.
struct Written {
  std::vector<BinaryAttribute> headers;
  std::string content_type;
  std::string own_body;
  std::string_view payload;  // borrowed from the envelope
  bool owns_body = false;
  std::string_view body() const { return owns_body ? std::string_view(own_body) : payload; }
};
Written write_wire(const Envelope& envelope, std::string_view prefix, WireFormat format);

}  // namespace onceward
