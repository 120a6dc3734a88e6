// Decimal numbers as text, read exactly: never by way of a binary fraction.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace onceward {

enum class DecimalFault : std::uint8_t {
  none,
  not_a_number,  // by the grammar of JSON: no plus sign, no leading zeros, no white space
  not_exact,     // more decimals than the scale that are not zero, or more than 64 bits
};

struct Decimal {
  DecimalFault fault = DecimalFault::none;
  std::int64_t minor_units = 0;  // 1234 for 12.34 with a scale of 2
};

// 12.340 is 12.34, 1.2e1 is 12, and -0 is 0: what counts is the number, not its spelling.
Decimal read_decimal(std::string_view text, int scale);

}  // namespace onceward
