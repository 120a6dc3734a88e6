#pragma once

#include <string>
#include <string_view>

namespace onceward {

// What others say, for a message to people: without control characters, and not longer than a line.
inline std::string one_line(std::string_view text) {
  constexpr std::size_t most_bytes = 300;
  std::string line(text.substr(0, most_bytes));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line;
}

}  // namespace onceward
