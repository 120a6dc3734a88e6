// Lower-case hexadecimal, and the UUID form of 16 bytes.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace onceward {

std::string to_hex(std::span<const unsigned char> bytes);
std::string to_uuid(std::span<const unsigned char, 16> bytes);

// The value of a lower-case digit, or nothing.
constexpr std::optional<unsigned> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  return std::nullopt;
}

}  // namespace onceward
