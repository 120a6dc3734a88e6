#include "src/declaration/duration.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace onceward::declaration {
namespace {

using std::chrono::milliseconds;

TEST(Duration, IsANumberAndAUnit) {
  EXPECT_EQ(read_duration("250ms"), milliseconds(250));
  EXPECT_EQ(read_duration("30s"), milliseconds(30'000));
  EXPECT_EQ(read_duration("5m"), milliseconds(300'000));
  EXPECT_EQ(read_duration("12h"), milliseconds(43'200'000));
  EXPECT_EQ(read_duration("7d"), milliseconds(604'800'000));
  EXPECT_EQ(read_duration("2y"), milliseconds(63'072'000'000));
  EXPECT_EQ(read_duration("0s"), milliseconds(0));
  EXPECT_EQ(read_duration("1000y"), milliseconds(31'536'000'000'000));
}

TEST(Duration, IsNothingElse) {
  for (const char* text : {"", "5", "s", "-5s", "+5s", "1.5s", "1 s", " 1s", "1s ", "1S", "1h30m", "1w", "0x1s",
                           "1001y", "4294967295y", "99999999999999999999s", "1e3s"})
    EXPECT_EQ(read_duration(text), std::nullopt) << text;
}

TEST(Duration, IsWrittenInItsLargestUnit) {
  EXPECT_EQ(write_duration(milliseconds(1500)), "1500ms");
  EXPECT_EQ(write_duration(milliseconds(0)), "0ms");
  EXPECT_EQ(write_duration(std::chrono::hours(48)), "2d");
  EXPECT_EQ(write_duration(milliseconds(-5000)), "-5s");
}

RC_GTEST_PROP(Duration, WrittenAndReadIsTheSame, ()) {
  const milliseconds duration(*rc::gen::inRange<std::int64_t>(0, 4'000'000'000));
  RC_ASSERT(read_duration(write_duration(duration)) == duration);
}

}  // namespace
}  // namespace onceward::declaration
