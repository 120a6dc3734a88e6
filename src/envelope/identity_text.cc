#include "src/envelope/identity_text.h"

#include <cstdint>
#include <cstring>

#include "src/common/utf8.h"

namespace onceward {
namespace {

// Bytes 0x20 to 0x7e only, eight at a time: what nearly every id is.
bool printable_ascii(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101, highs = ones << 7;
  // Below 0x20 the difference borrows into a high bit, 0x7f carries into its own.
  const auto flaws = [](std::uint64_t word) { return word | (word - 0x20 * ones) | (word + ones); };
  std::uint64_t seen = 0;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    seen |= flaws(word);
  }
  std::uint64_t word = 0x20 * ones;
  if (left > 0) std::memcpy(&word, at, left);
  return ((seen | flaws(word)) & highs) == 0;
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
