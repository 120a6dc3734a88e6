#include "src/common/decimal.h"

#include <algorithm>
#include <limits>

#include "src/common/digits.h"

namespace onceward {
namespace {

constexpr std::int64_t farthest = 1'000'000'000'000;  // an exponent that no number of zeros in a text makes up for

// Takes one number from the left, by RFC 8259.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view digits() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_digit);
    const auto taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

struct Number {
  bool negative = false;
  std::string_view whole, part;
  std::int64_t exponent = 0;
};

std::optional<std::int64_t> exponent_in(Scanner& scan) {
  const bool negative = scan.take('-');
  if (!negative) scan.take('+');
  const std::string_view digits = scan.digits();
  if (digits.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char digit : digits) value = std::min(farthest, value * 10 + (digit - '0'));
  return negative ? -value : value;
}

std::optional<Number> number_in(std::string_view text) {
  Scanner scan(text);
  Number number;
  number.negative = scan.take('-');
  number.whole = scan.digits();
  if (number.whole.empty() || (number.whole.size() > 1 && number.whole.front() == '0')) return std::nullopt;
  if (scan.take('.')) {
    number.part = scan.digits();
    if (number.part.empty()) return std::nullopt;
  }
  if (scan.take('e') || scan.take('E')) {
    const auto exponent = exponent_in(scan);
    if (!exponent) return std::nullopt;
    number.exponent = *exponent;
  }
  if (!scan.at_end()) return std::nullopt;
  return number;
}

// Digits from the left; zeros wait until something other than zero follows, so that those at the end are never counted.
class Magnitude {
 public:
  void append(std::string_view digits) {
    for (const char c : digits) {
      if (c == '0') {
        zeros_ += value_ != 0;
      } else {
        shift(zeros_ + 1);
        zeros_ = 0;
        value_ += static_cast<std::uint64_t>(c - '0');  // fits: shift() has left room for a digit
      }
    }
  }
  std::int64_t trailing_zeros() const { return zeros_; }
  bool zero() const { return value_ == 0 && fits_; }
  void shift(std::int64_t places) {
    constexpr std::uint64_t most = (std::uint64_t{1} << 63) / 10 + 1;
    for (; places > 0 && fits_; --places) {
      fits_ = value_ <= most;
      value_ *= 10;
    }
  }
  std::optional<std::int64_t> with_sign(bool negative) const {
    const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + negative;
    if (!fits_ || value_ > most) return std::nullopt;
    return static_cast<std::int64_t>(negative ? 0 - value_ : value_);
  }

 private:
  std::uint64_t value_ = 0;
  std::int64_t zeros_ = 0;
  bool fits_ = true;
};

}  // namespace

Decimal read_decimal(std::string_view text, int scale) {
  const auto number = number_in(text);
  if (!number) return {DecimalFault::not_a_number};
  Magnitude magnitude;
  magnitude.append(number->whole);
  magnitude.append(number->part);
  if (magnitude.zero()) return {};
  // The last digit that is not zero counts 10^places minor units.
  const std::int64_t places =
      magnitude.trailing_zeros() - static_cast<std::int64_t>(number->part.size()) + number->exponent + scale;
  if (places < 0) return {DecimalFault::not_exact};
  magnitude.shift(places);
  const auto minor_units = magnitude.with_sign(number->negative);
  if (!minor_units) return {DecimalFault::not_exact};
  return {DecimalFault::none, *minor_units};
}

}  // namespace onceward
