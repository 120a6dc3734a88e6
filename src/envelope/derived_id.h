// Ids of what leaves. Derived from the cause, so that running a message again stages the same ids.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "onceward/identity.h"
#include "src/common/hex.h"

namespace onceward {

// What the ids of one consumer's messages of one name and ordinal share: the first 16 bytes of SHA-256 over the fields
// (as in key.h) "onceward/outgoing/1", consumer, name, and ordinal as 32 bits big endian.
using IdMask = std::array<unsigned char, 16>;
IdMask id_mask(std::string_view consumer, std::string_view name, std::uint32_t ordinal);

// A UUID in lower case, the same for the same arguments: the bytes of the key, each exclusive or the mask's. A key is a
// hash itself, so no two causes meet under one mask, and under two only as any two hashes do. Where the cause's key
// carries a time the UUID is of version 7 with that time, so that those downstream may declare the scheme uuidv7 in their
// turn; else of version 8.
UuidText derived_id(const IdMask& mask, const Key& cause);

// A new UUID of version 7, for a producer that has no cause: random, with the system clock's time.
std::string fresh_id();

}  // namespace onceward
