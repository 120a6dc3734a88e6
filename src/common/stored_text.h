// Text that every store can keep: UTF-8 without NUL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace onceward {

enum class TextFlaw : std::uint8_t { none, nul, not_utf8 };

TextFlaw flaw_of(std::string_view text);
// The text with U+FFFD for every byte that no store could keep.
std::string storable(std::string_view text);
// "holds a NUL byte"; for people.
std::string_view describe(TextFlaw flaw);

}  // namespace onceward
