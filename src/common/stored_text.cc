#include "src/common/stored_text.h"

#include <cstring>

#include "src/common/utf8.h"
#include "src/common/words.h"

namespace onceward {
namespace {

// Bytes 1 to 127 only: what nearly every name is.
bool plain_ascii(std::string_view text) {
  // A zero byte borrows into its high bit.
  return passes_in_words(text, 'a', [](std::uint64_t word) { return word | (word - in_each_byte(1)); });
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

std::string storable(std::string_view text) {
  if (flaw_of(text) == TextFlaw::none) return std::string(text);
  std::string kept;
  kept.reserve(text.size());
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const std::string_view character = text.substr(0, length);
    const bool whole = flaw_of(character) == TextFlaw::none;
    kept += whole ? character : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(whole ? character.size() : 1);
  }
  return kept;
}

}  // namespace onceward
