#include "src/common/uuid.h"

#include "src/common/hex.h"

namespace onceward {
namespace {

// Below zero for what is no digit.
int value_of(char c) {
  const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  return kHexValues[static_cast<unsigned char>(lower)];
}

}  // namespace

std::optional<std::array<unsigned char, 16>> read_uuid(std::string_view text) {
  if (text.size() != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return std::nullopt;
  std::array<unsigned char, 16> bytes;
  int wrong = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i, at += 2) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    const int high = value_of(text[at]);
    const int low = value_of(text[at + 1]);
    wrong |= high | low;
    bytes[i] = static_cast<unsigned char>((high & 0xf) << 4 | (low & 0xf));
  }
  if (wrong < 0) return std::nullopt;
  return bytes;
}

}  // namespace onceward
