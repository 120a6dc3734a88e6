// The key under which a message or an operation is claimed. This file owns its grammar; a change to anything below makes
// every stored id new, so the known answers in key_test.cc must never be edited to fit the code.
//
//   key        = hash_key | time_key                                       ; 128 bits
//   hash_key   = 1  digest[1..127]                                         ; bits of the digest below
//   time_key   = 0  seconds  digest[0..95]
//   seconds    = 31 bits, big endian: whole seconds from 2010-01-01T00:00:00Z to the time inside the id (until 2078)
//   digest     = SHA-256( message | unnamed | operation | position )
//   message    = field("onceward/message/1")   field(tenant) field(consumer) field(producer) field(id)
//   unnamed    = field("onceward/unnamed/1")   field(tenant) field(consumer) field(producer) field(operation)
//                field(idempotency key)                                    ; a message that has no id of its own
//   operation  = field("onceward/operation/1") field(tenant) field(consumer) field(operation) field(idempotency key)
//   position   = field("onceward/position/1") field(consumer) field(stream) field(begun) field(offset)  ; numbers in digits
//   field(x)   = length of x as 32 bits, big endian, then its bytes
//
// Scheme `hash` makes hash keys; `uuidv7` and `ulid` make time keys; `unnamed`, `operation` and `position` are always hash keys.
// So time keys sort by the time of their ids, and a range of time keys never holds a hash key: retention may drop it.
//
//   uuidv7     = 36 characters, lower case, version 7, variant 10          ; RFC 9562
//   ulid       = 26 characters, upper-case Crockford base 32, the first at most '7'
//
// Only the canonical spelling is an id: the digest is over the text, and another spelling would be another id.
#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <variant>

#include "onceward/declaration.h"
#include "onceward/identity.h"
#include "onceward/position.h"
#include "onceward/refusal.h"

namespace onceward {

// The time of second 0.
inline constexpr std::chrono::sys_seconds kKeyEpoch = std::chrono::sys_days{std::chrono::January / 1 / 2010};

// A Reason is malformed_message_id or id_time_out_of_range.
std::variant<Key, Reason> message_key(KeyScheme scheme, Tenant tenant, std::string_view consumer, Producer producer,
                                      std::string_view id);
Key unnamed_key(Tenant tenant, std::string_view consumer, Producer producer, std::string_view operation,
                std::string_view idempotency_key);
Key operation_key(Tenant tenant, std::string_view consumer, std::string_view operation,
                  std::string_view idempotency_key);

// Of a message that is known by where it stands.
Key position_key(std::string_view consumer, const Position& position);

// Of a row that is found by what it is about and is no message: the first 16 bytes of the digest of the fields.
Key key_of_fields(std::initializer_list<std::string_view> fields);

// The time that a time key carries; nothing of a hash key.
std::optional<std::chrono::sys_seconds> time_of(const Key& key);

// The lowest key of that second: every time key below it is older, every hash key is above it.
// The time must be one that a key can carry; it is clamped to those.
Key lowest_key_at(std::chrono::sys_seconds time);

// Milliseconds since 1970 inside an id of that form; nothing when it is not the canonical spelling.
std::optional<std::chrono::milliseconds> time_in_uuidv7(std::string_view id);
std::optional<std::chrono::milliseconds> time_in_ulid(std::string_view id);

}  // namespace onceward
