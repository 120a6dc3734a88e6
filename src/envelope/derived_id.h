// Ids of what leaves. Derived from the cause, so that running a message again stages the same ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onceward/identity.h"

namespace onceward {

// A UUID in lower case, the same for the same arguments: SHA-256 over the fields (as in key.h) "onceward/outgoing/1",
// consumer, the key of the message that caused it, name, and ordinal as 32 bits big endian. Where the cause's key carries
// a time the UUID is of version 7 with that time, so that those downstream may declare the scheme uuidv7 in their turn;
// else of version 8.
std::string derived_id(std::string_view consumer, const Key& cause, std::string_view name, std::uint32_t ordinal);

// A new UUID of version 7, for a producer that has no cause: random, with the system clock's time.
std::string fresh_id();

}  // namespace onceward
