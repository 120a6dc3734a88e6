// Decimals in PostgreSQL's binary format: digits of base 10000, the point between two of them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace onceward::postgres {

class NumericBytes {
 public:
  // `minor_units` / 10^scale, shown with `scale` decimals; a scale of 0 to 18.
  NumericBytes(std::int64_t minor_units, int scale);
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, 8 + 2 * 10> bytes_;  // a header and at most five digits on either side
  std::size_t size_ = 0;
};

}  // namespace onceward::postgres
