// Lower-case hexadecimal, and the UUID form of 16 bytes.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

namespace onceward {

std::string to_hex(std::span<const unsigned char> bytes);
using UuidText = std::array<char, 36>;
UuidText uuid_text(std::span<const unsigned char, 16> bytes);
std::string to_uuid(std::span<const unsigned char, 16> bytes);

// By table: digits and letters alternate at random in an id, and a branch between them is guessed wrong half the time.
inline constexpr auto kHexValues = [] {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (signed char value = 0; value < 16; ++value) values["0123456789abcdef"[value]] = value;
  return values;
}();

// The value of a lower-case digit, or nothing.
constexpr std::optional<unsigned> hex_digit(char digit) {
  const signed char value = kHexValues[static_cast<unsigned char>(digit)];
  if (value < 0) return std::nullopt;
  return static_cast<unsigned>(value);
}

}  // namespace onceward
