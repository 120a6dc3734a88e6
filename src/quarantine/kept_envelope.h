// How a kept message's envelope is stored beside its payload, whose exact bytes have a column of their own:
//
//   our JSON envelope without its payload
//   "exact": { "<member>": base64, "headers": [base64 name, base64 value, ...], "occurredAt": "microseconds" }
//
//   "unread": code of the reason, of a message that could not be read; its payload is the whole body then
//
// "exact" is there only for what the JSON envelope cannot carry (bytes that are no text, a header's name twice, a time past
// the year 9999), and is right where both tell.
#pragma once

#include <string>
#include <string_view>

#include "onceward/envelope.h"

namespace onceward {

// Fit for every store, whatever a producer sent.
std::string kept_envelope(const Envelope& envelope);
// What was kept, with its payload. Of a text that cannot be read only the payload is left, which no consumer's identity policy
// accepts.
Envelope as_kept(std::string_view kept, std::string_view payload);
// The same, where a body that could not be read is read again, without limits; only what succeeds then is no longer unread.
Envelope read_kept(std::string_view kept, std::string_view payload);

}  // namespace onceward
