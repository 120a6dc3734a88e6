// Whether two envelopes say the same but for their headers, of which some have no place in some formats.
#pragma once

#include "onceward/envelope.h"

namespace onceward {

inline bool are_alike(const Envelope& one, const Envelope& other) {
  const auto plain = [](const Envelope& envelope) {
    EnvelopeFields fields = envelope.fields();
    fields.headers = {};
    // A CloudEvent has one id for both.
    if (fields.event_id.empty()) fields.event_id = EventId(fields.message_id.text());
    return Envelope::copy_of(fields);
  };
  return plain(one) == plain(other);
}

// What a CloudEvent must have.
inline bool is_event(const Envelope& envelope) {
  return !envelope.message_id().empty() && !envelope.producer().empty() && !envelope.event_type().empty();
}

}  // namespace onceward
