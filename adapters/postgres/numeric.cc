#include "adapters/postgres/numeric.h"

#include <cstddef>

#include "adapters/postgres/byte_buffer.h"

namespace onceward::postgres {
namespace {

constexpr auto powers_of_ten = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

constexpr std::size_t numeric_header_bytes = 8;  // count of digits, weight of the first, sign, decimals shown
constexpr std::uint16_t positive = 0, negative = 0x4000;
constexpr int digit_decimals = 4;
constexpr std::uint64_t base = 10'000;

}  // namespace

NumericBytes::NumericBytes(std::int64_t minor_units, int scale) {
  const std::uint64_t amount =
      minor_units < 0 ? 0 - static_cast<std::uint64_t>(minor_units) : static_cast<std::uint64_t>(minor_units);
  std::uint64_t whole = amount / powers_of_ten[static_cast<std::size_t>(scale)];
  std::uint64_t part = amount % powers_of_ten[static_cast<std::size_t>(scale)];

  std::array<std::uint16_t, 10> digits;
  std::size_t count = 5;  // those before the point are written from the right
  for (; whole != 0; whole /= base) digits[--count] = static_cast<std::uint16_t>(whole % base);
  std::size_t first = count;
  count = 5;
  int weight = static_cast<int>(count - first) - 1;
  for (int left = scale; part != 0; left -= digit_decimals) {
    const bool last = left <= digit_decimals;
    const std::uint64_t unit =
        powers_of_ten[static_cast<std::size_t>(last ? digit_decimals - left : left - digit_decimals)];
    digits[count++] = static_cast<std::uint16_t>(last ? part * unit : part / unit);
    part = last ? 0 : part % unit;
  }
  // Neither end is a zero; the number zero has no digits.
  for (; first < count && digits[first] == 0; ++first) --weight;
  while (count > first && digits[count - 1] == 0) --count;
  if (first == count) weight = 0;

  store_big_endian(bytes_.data(), static_cast<std::uint16_t>(count - first));
  store_big_endian(bytes_.data() + 2, static_cast<std::uint16_t>(weight));
  store_big_endian(bytes_.data() + 4, minor_units < 0 ? negative : positive);
  store_big_endian(bytes_.data() + 6, static_cast<std::uint16_t>(scale));
  size_ = numeric_header_bytes;
  for (; first < count; ++first, size_ += 2) store_big_endian(bytes_.data() + size_, digits[first]);
}

}  // namespace onceward::postgres
