#include "src/common/decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace onceward {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

std::string read(std::string_view text, int scale) {
  const Decimal decimal = read_decimal(text, scale);
  switch (decimal.fault) {
    case DecimalFault::none:
      return std::to_string(decimal.minor_units);
    case DecimalFault::not_a_number:
      return "no number";
    case DecimalFault::not_exact:
      return "not exact";
  }
  return "";
}

TEST(Decimal, IsExactWhateverItsSpelling) {
  EXPECT_EQ(read("12.34", 2), "1234");
  EXPECT_EQ(read("12.340", 2), "1234");
  EXPECT_EQ(read("12.3", 2), "1230");
  EXPECT_EQ(read("-0.05", 2), "-5");
  EXPECT_EQ(read("0.1", 18), "100000000000000000");
  EXPECT_EQ(read("1e2", 2), "10000");
  EXPECT_EQ(read("1.234E+1", 2), "1234");
  EXPECT_EQ(read("1234000e-5", 2), "1234");
  EXPECT_EQ(read("-0", 2), "0");
  EXPECT_EQ(read("0.000e999999999999999999999", 0), "0");
  EXPECT_EQ(read("0e-999999999999999999999", 0), "0");
  EXPECT_EQ(read("1." + std::string(100'000, '0'), 2), "100");
  EXPECT_EQ(read("1" + std::string(100'000, '0') + "e-100002", 2), "1");
}

TEST(Decimal, WithMoreThanItsTypeHoldsIsRefused) {
  EXPECT_EQ(read("12.345", 2), "not exact");
  EXPECT_EQ(read("0.001", 2), "not exact");
  EXPECT_EQ(read("1e-3", 2), "not exact");
  EXPECT_EQ(read("0.5", 0), "not exact");
  EXPECT_EQ(read("92233720368547758.07", 2), std::to_string(highest));
  EXPECT_EQ(read("92233720368547758.08", 2), "not exact");
  EXPECT_EQ(read("-92233720368547758.08", 2), std::to_string(lowest));
  EXPECT_EQ(read("-92233720368547758.09", 2), "not exact");
  EXPECT_EQ(read("18446744073709551616", 0), "not exact");
  EXPECT_EQ(read("10", 18), "not exact");
  EXPECT_EQ(read("1e999999999999999999999", 2), "not exact");
  EXPECT_EQ(read("1e-999999999999999999999", 2), "not exact");
  EXPECT_EQ(read(std::string(100'000, '9'), 2), "not exact");
}

TEST(Decimal, IsWhatJsonCallsANumber) {
  for (const char* text : {"",    "-",     "+1",  " 1",  "1 ",       "01",  "-01",   ".5",    "1.",  "1.e1",    "1e",
                           "1e+", "1e1.0", "0x1", "NaN", "Infinity", "1,5", "1_000", "1e1e1", "--1", "\xd9\xa1"})
    EXPECT_EQ(read(text, 2), "no number") << text;
}

// Against a reading by way of the plain digits.
std::string written(std::int64_t minor_units, int scale) {
  std::string digits = std::to_string(minor_units);
  const bool negative = digits.front() == '-';
  if (negative) digits.erase(0, 1);
  if (digits.size() <= static_cast<std::size_t>(scale))
    digits.insert(0, static_cast<std::size_t>(scale) + 1 - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - static_cast<std::size_t>(scale), 1, '.');
  return (negative ? "-" : "") + digits;
}

RC_GTEST_PROP(Decimal, WhatIsWrittenIsRead, (std::int64_t minor_units)) {
  const int scale = *rc::gen::inRange(0, 19);
  const int zeros = *rc::gen::inRange(0, 30);
  std::string text = written(minor_units, scale);
  if (scale > 0) text.append(static_cast<std::size_t>(zeros), '0');
  RC_ASSERT(read(text, scale) == std::to_string(minor_units));
}

RC_GTEST_PROP(Decimal, ExponentMovesThePoint, (std::int64_t minor_units)) {
  const int scale = *rc::gen::inRange(0, 19);
  const int shift = *rc::gen::inRange(-30, 31);
  const std::string text = written(minor_units, 0) + "e" + std::to_string(shift - scale);
  const Decimal decimal = read_decimal(text, scale);
  if (shift == 0) RC_ASSERT(read(text, scale) == std::to_string(minor_units));
  if (decimal.fault == DecimalFault::none && shift > 0) {
    std::int64_t value = decimal.minor_units;
    for (int i = 0; i < shift; ++i) {
      RC_ASSERT(value % 10 == 0);
      value /= 10;
    }
    RC_ASSERT(value == minor_units || minor_units == 0);
  }
  if (decimal.fault == DecimalFault::none && shift < 0) {
    std::int64_t value = minor_units;
    for (int i = 0; i < -shift; ++i) {
      RC_ASSERT(value % 10 == 0);
      value /= 10;
    }
    RC_ASSERT(value == decimal.minor_units);
  }
}

RC_GTEST_PROP(Decimal, OneMoreDigitThanTheScaleIsRefused, (std::int64_t minor_units)) {
  const int scale = *rc::gen::inRange(0, 18);
  const char digit = *rc::gen::inRange('1', ':');
  const std::string text = written(minor_units, scale) + (scale == 0 ? "." : "") + digit;
  RC_ASSERT(read(text, scale) == "not exact");
}

}  // namespace
}  // namespace onceward
