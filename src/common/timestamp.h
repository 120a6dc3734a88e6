// Times as text: RFC 3339, and only that.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onceward/identity.h"

namespace onceward {

// From 1970-01-01T00:00:00Z to the end of 9999, any offset up to 23:59. One to nine digits of a fraction; what is below
// a microsecond is cut off. Refused: a leap second (:60, which no clock of ours can hold), a space for the T, a missing
// offset. Lower-case t and z are allowed, as the RFC allows them.
std::optional<Timestamp> read_timestamp(std::string_view text);

// In UTC, with a fraction of six digits only where there is one. The time must be in the range above.
std::string write_timestamp(Timestamp time);
bool writable(Timestamp time);

}  // namespace onceward
