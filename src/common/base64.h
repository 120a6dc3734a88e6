// Base64 with the standard alphabet and padding, RFC 4648 section 4.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace onceward {

std::string to_base64(std::string_view bytes);

// Strict: no white space, no missing padding, no stray bits, so that each byte sequence has one spelling.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace onceward
