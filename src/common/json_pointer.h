// JSON pointers, RFC 6901.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/common/json.h"

namespace onceward {

// A pointer as its unescaped tokens, or nothing where the text is none.
std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer);
// An array index as RFC 6901 writes it: no sign, no leading zero.
std::optional<std::uint32_t> array_index(std::string_view token);

// The node that the pointer names. An object that holds the wanted key twice names no one: duplicate_field.
struct NoSuchNode {};
std::variant<const JsonNode*, NoSuchNode, Reason> find(const JsonDocument& document,
                                                       std::span<const std::string> pointer);

}  // namespace onceward
