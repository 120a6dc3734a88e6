#include "src/common/hex.h"

#include <cstdint>
#include <cstring>

namespace onceward {
namespace {

constexpr auto kPairs = [] {
  constexpr char digits[] = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> pairs{};
  for (std::size_t byte = 0; byte < pairs.size(); ++byte) pairs[byte] = {digits[byte >> 4], digits[byte & 0xf]};
  return pairs;
}();

// Where a UUID's text has each byte.
constexpr std::array<std::uint8_t, 16> kPlaces = {0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34};

}  // namespace

std::string to_hex(std::span<const unsigned char> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) text.append(kPairs[byte].data(), kPairs[byte].size());
  return text;
}

UuidText uuid_text(std::span<const unsigned char, 16> bytes) {
  UuidText text;
  text[8] = text[13] = text[18] = text[23] = '-';
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::memcpy(text.data() + kPlaces[i], kPairs[bytes[i]].data(), kPairs[bytes[i]].size());
  }
  return text;
}

std::string to_uuid(std::span<const unsigned char, 16> bytes) {
  const UuidText text = uuid_text(bytes);
  return {text.data(), text.size()};
}

}  // namespace onceward
