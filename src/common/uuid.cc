#include "src/common/uuid.h"

#include "src/common/hex.h"

namespace onceward {
namespace {

// Of digits in either case; below zero for what is none.
constexpr auto values = [] {
  auto both = kHexValues;
  for (unsigned char c = 'A'; c <= 'F'; ++c) both[c] = kHexValues[c - 'A' + 'a'];
  return both;
}();

int value_of(char c) { return values[static_cast<unsigned char>(c)]; }

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
