// The canonical text of a JSON payload, for consumers whose producers do not send the same bytes twice.
//
// Members sorted by the bytes of their names in UTF-8; no white space; a string in one spelling (only ", \ and what is
// below U+0020 escaped); a number as it was written: 1, 1.0 and 1e0 differ, since to us a number is a token. It is
// therefore not RFC 8785 (JCS), which rewrites numbers and sorts by UTF-16.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "onceward/refusal.h"
#include "src/common/json.h"

namespace onceward {

// Leaves out what the pointers (RFC 6901) name; one that names nothing changes nothing, and so does a text that is no
// pointer. An object that holds a name twice has no one meaning and is refused: duplicate_field.
std::variant<std::string, Reason> canonical_json(const JsonDocument& document,
                                                 std::span<const std::string> volatile_fields);

}  // namespace onceward
