#include "src/envelope/identity_text.h"

#include "src/common/utf8.h"
#include "src/common/words.h"

namespace onceward {
namespace {

// Bytes 0x20 to 0x7e only: what nearly every id is.
bool printable_ascii(std::string_view text) {
  // Below 0x20 the difference borrows into a high bit, 0x7f carries into its own.
  return passes_in_words(
      text, 'a', [](std::uint64_t word) { return word | (word - in_each_byte(0x20)) | (word + in_each_byte(1)); });
}

// U+0080 to U+009F, in UTF-8.
bool has_c1_control(std::string_view text) {
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == '\xc2' && static_cast<unsigned char>(text[at + 1]) < 0xa0) return true;
  }
  return false;
}

}  // namespace

std::optional<Reason> id_fault(std::string_view text, std::size_t most_bytes, Reason malformed) {
  if (text.size() > most_bytes) return Reason::id_too_long;
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return malformed;
  if (printable_ascii(text)) return std::nullopt;
  bool ascii = true;
  bool control = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return Reason::nul_in_text;
    control |= byte < 0x20 || byte == 0x7f;
    ascii &= byte < 0x80;
  }
  if (!ascii) {
    if (!valid_utf8(text)) return Reason::invalid_utf8;
    control |= has_c1_control(text);
  }
  if (control) return malformed;
  return std::nullopt;
}

}  // namespace onceward
