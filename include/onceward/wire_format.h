// How a message stands on the wire of a broker that has headers of its own beside the body.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace onceward {

enum class WireFormat : std::uint8_t {
  // Read: told by the message itself (content type, CloudEvents attributes); what says nothing is native.
  // Written: binary, and native beside it where the broker has properties for it; our envelope where it is too little for
  // a CloudEvent.
  automatic,
  native,      // identity in the broker's own properties and headers, the body is the payload
  envelope,    // the body is our JSON envelope
  structured,  // the body is a CloudEvent
  binary,      // a CloudEvent's attributes are headers, the body is its data
};

// As URLs and files write them: auto, native, envelope, cloudevents, cloudevents-binary.
std::string_view name(WireFormat format);
std::optional<WireFormat> wire_format_named(std::string_view name);

}  // namespace onceward
