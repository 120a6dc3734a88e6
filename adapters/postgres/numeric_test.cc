#include "adapters/postgres/numeric.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace onceward::postgres {
namespace {

using Words = std::vector<int>;

// Count, weight, sign, scale, then the digits.
Words words(std::int64_t minor_units, int scale) {
  const NumericBytes numeric(minor_units, scale);
  Words result;
  for (std::size_t at = 0; at < numeric.view().size(); at += 2) {
    const auto high = static_cast<signed char>(numeric.view()[at]);
    const auto low = static_cast<unsigned char>(numeric.view()[at + 1]);
    result.push_back(high * 256 + low);
  }
  return result;
}

TEST(PostgresNumeric, PointStandsBetweenTwoDigits) {
  EXPECT_EQ(words(1234, 2), (Words{2, 0, 0, 2, 12, 3400}));
  EXPECT_EQ(words(123'456'789, 0), (Words{3, 2, 0, 0, 1, 2345, 6789}));
  EXPECT_EQ(words(123'456'789, 5), (Words{3, 0, 0, 5, 1234, 5678, 9000}));
}

TEST(PostgresNumeric, ZerosAtEitherEndAreLeftOut) {
  EXPECT_EQ(words(0, 2), (Words{0, 0, 0, 2}));
  EXPECT_EQ(words(100'000'000, 0), (Words{1, 2, 0, 0, 1}));
  EXPECT_EQ(words(1'000'000, 2), (Words{1, 1, 0, 2, 1}));
  EXPECT_EQ(words(1, 9), (Words{1, -3, 0, 9, 1000}));
}

TEST(PostgresNumeric, SignIsApart) {
  EXPECT_EQ(words(-5, 2), (Words{1, -1, 0x4000, 2, 500}));
  EXPECT_EQ(words(std::numeric_limits<std::int64_t>::min(), 18),
            (Words{6, 0, 0x4000, 18, 9, 2233, 7203, 6854, 7758, 800}));
  EXPECT_EQ(words(std::numeric_limits<std::int64_t>::min(), 0), (Words{5, 4, 0x4000, 0, 922, 3372, 368, 5477, 5808}));
}

}  // namespace
}  // namespace onceward::postgres
