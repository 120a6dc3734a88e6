#include "src/common/hex.h"

namespace onceward {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

void append(std::string& text, unsigned char byte) {
  text += kDigits[byte >> 4];
  text += kDigits[byte & 0xf];
}

}  // namespace

std::string to_hex(std::span<const unsigned char> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const unsigned char byte : bytes) append(text, byte);
  return text;
}

UuidText uuid_text(std::span<const unsigned char, 16> bytes) {
  UuidText text;
  text.fill('-');
  std::size_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    text[at++] = kDigits[bytes[i] >> 4];
    text[at++] = kDigits[bytes[i] & 0xf];
  }
  return text;
}

std::string to_uuid(std::span<const unsigned char, 16> bytes) {
  const UuidText text = uuid_text(bytes);
  return {text.data(), text.size()};
}

}  // namespace onceward
