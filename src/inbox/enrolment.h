// What a consumer is enrolled with. Its identity policy decides the key of every message, so a policy that changed
// would take every message ever applied for a new one: the text is stored once and compared on every start.
#pragma once

#include <string>
#include <string_view>

#include "onceward/declaration.h"
#include "onceward/fault.h"

namespace onceward {

// The parts of the policy that keys and hashes are made from, a line each: "<part>: <value>\n". The text is stored
// in the user's database: a part may be added at the end, none may be written differently.
std::string identity_text(const IdentityPolicy& policy, Offsets offsets = Offsets::inbox);

// As the consumer table holds it.
std::string_view stored_name(KeyScheme scheme);

// The parts that differ between two texts, for people: "hash, operation".
std::string differing_parts(std::string_view enrolled, std::string_view declared);

// What to throw where the enrolled text is not the declared one.
Fault identity_changed(std::string_view consumer, std::string_view enrolled, std::string_view declared);

}  // namespace onceward
