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
#include "src/envelope/builder.h"

namespace onceward {

// Content types that say what a body is.
inline constexpr std::string_view envelope_content_type = "application/vnd.onceward.envelope+json";
inline constexpr std::string_view cloudevent_content_type = "application/cloudevents+json";

// Reads by the format, with the trace that stands beside; `prefix` is that of the binding's CloudEvents attributes.
// Nothing: the message is native.
std::optional<ReadEnvelope> read_wire(const BinaryMessage& message, std::string_view prefix, WireFormat format,
                                      const EnvelopeLimits& limits);

// A delivery without a tag. What was refused keeps its whole body as its payload, beside the refusal, and is unread.
Delivery delivery_of(ReadEnvelope read, const Bytes& body);

// The same where there was more than a body, and nothing of it is lost: `native` is the message as its broker has it, read
// without limits. Of a message in another format it tells what its attributes tell, and the broker's own beside them as
// headers whose names begin with kept_prefix.
Delivery refused_delivery(Refusal refusal, const BinaryMessage& message, std::string_view prefix, WireFormat format,
                          const Envelope& native);
inline constexpr std::string_view kept_prefix = "onceward-kept-";
// For an adapter's own reading of what is native: a text that is none is kept as such a header.
void keep_text(EnvelopeBuilder& builder, const TextMember& member, std::string_view text);

// What is to be sent of an envelope. In the native format, and for what the others have no place for, the envelope's own
// headers are headers. Its trace is beside it in every format. Where it is
// automatic, what is too little for a CloudEvent is sent as our envelope, and what could not be read as it came.
struct Written {
  std::vector<BinaryAttribute> headers;
  std::string content_type;
  std::string own_body;
  std::string_view payload;  // borrowed from the envelope
  bool owns_body = false;
  std::string wrong{};  // why nobody could read it in this format; empty: it can be sent
  std::string_view body() const { return owns_body ? std::string_view(own_body) : payload; }
};
Written write_wire(const Envelope& envelope, std::string_view prefix, WireFormat format);
// The first member that a CloudEvent must have and the envelope has not; else empty.
std::string missing_for_cloudevent(const Envelope& envelope);

}  // namespace onceward
