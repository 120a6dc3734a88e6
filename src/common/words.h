// A text looked at eight bytes at a time, for checks that nearly every text passes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace onceward {

// `byte` in each byte of a word.
constexpr std::uint64_t in_each_byte(unsigned char byte) { return 0x0101'0101'0101'0101u * byte; }

// Whether look(word) leaves the high bit of every byte clear, for all words of the text. A text of fewer than eight bytes
// is filled up with `filler`, which must pass.
template <class Look>
bool passes_in_words(std::string_view text, unsigned char filler, Look look) {
  constexpr std::uint64_t highs = in_each_byte(0x80);
  if (text.size() < 8) {
    std::uint64_t word = in_each_byte(filler);
    for (const char byte : text) word = word << 8 | static_cast<unsigned char>(byte);
    return (look(word) & highs) == 0;
  }
  const auto word_at = [text](std::size_t at) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    return word;
  };
  // The last word overlaps its neighbour: a copy of a length known only here would cost more than the check.
  std::uint64_t seen = look(word_at(text.size() - 8));
  for (std::size_t at = 0; at + 8 < text.size(); at += 8) seen |= look(word_at(at));
  return (seen & highs) == 0;
}

}  // namespace onceward
