// W3C's trace context, as it travels beside a message whatever the message's format: in the headers traceparent and
// tracestate. What a message says itself goes before what stands beside it. In an envelope the state is a header.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"

namespace onceward {

inline constexpr std::string_view trace_parent_name = "traceparent";
inline constexpr std::string_view trace_state_name = "tracestate";

// One that is no text, or too long, is a header like any other.
bool is_trace_parent(const Header& header);

// The headers of a CloudEvent in binary mode, with what stands beside the event as its attributes.
class TracedHeaders {
 public:
  TracedHeaders(std::span<const Header> headers, std::string_view prefix);
  std::span<const Header> get() const { return changed_.empty() ? given_ : changed_; }

 private:
  const std::span<const Header> given_;
  std::string name_;
  std::vector<Header> changed_;
};

// With the trace that stands beside it, if it has none.
ReadEnvelope with_trace(ReadEnvelope read, std::span<const Header> beside, const EnvelopeLimits& limits);

// Adds the trace of an envelope to the headers that it is sent with, in the place of others of these names.
void add_trace(std::vector<BinaryAttribute>& headers, const Envelope& envelope);

// Whether a header is the attribute of a CloudEvent. AMQP has two prefixes; a reader takes both.
bool is_attribute(std::string_view header, std::string_view attribute, std::string_view prefix);

}  // namespace onceward
