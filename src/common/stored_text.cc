#include "src/common/stored_text.h"

#include <cstring>

#include "src/common/utf8.h"

namespace onceward {
namespace {

// Bytes 1 to 127 only, eight at a time: what nearly every name is, told faster than by a call.
bool plain_ascii(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101, highs = ones << 7;
  std::uint64_t seen = 0;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    seen |= word | (word - ones);  // a zero byte borrows into its high bit
  }
  std::uint64_t word = ones;
  if (left > 0) std::memcpy(&word, at, left);
  return ((seen | word | (word - ones)) & highs) == 0;
}

}  // namespace

TextFlaw flaw_of(std::string_view text) {
  if (plain_ascii(text)) return TextFlaw::none;
  if (std::memchr(text.data(), 0, text.size()) != nullptr) return TextFlaw::nul;
  return valid_utf8(text) ? TextFlaw::none : TextFlaw::not_utf8;
}

std::string_view describe(TextFlaw flaw) {
  switch (flaw) {
    case TextFlaw::none:
      return "";
    case TextFlaw::nul:
      return "holds a NUL byte";
    case TextFlaw::not_utf8:
      return "is not valid UTF-8";
  }
  return "";
}

}  // namespace onceward
