#include "src/common/timestamp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace onceward {
namespace {

std::optional<std::int64_t> microseconds_of(std::string_view text) {
  const auto time = read_timestamp(text);
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}

TEST(Timestamp, IsReadWithAnyOffsetAndFraction) {
  EXPECT_EQ(microseconds_of("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(microseconds_of("2018-04-05T17:31:00Z"), 1522949460000000);
  EXPECT_EQ(microseconds_of("2018-04-05T19:31:00+02:00"), 1522949460000000);
  EXPECT_EQ(microseconds_of("2018-04-05T12:01:00-05:30"), 1522949460000000);
  EXPECT_EQ(microseconds_of("2018-04-05T17:31:00-00:00"), 1522949460000000);
  EXPECT_EQ(microseconds_of("2018-04-05t17:31:00.5z"), 1522949460500000);
  EXPECT_EQ(microseconds_of("2018-04-05T17:31:00.000001Z"), 1522949460000001);
  EXPECT_EQ(microseconds_of("2018-04-05T17:31:00.123456789Z"), 1522949460123456);
  EXPECT_EQ(microseconds_of("2024-02-29T00:00:00Z"), 1709164800000000);
  EXPECT_EQ(microseconds_of("9999-12-31T23:59:59.999999Z"), 253402300799999999);
}

TEST(Timestamp, IsRefusedInAnyOtherForm) {
  for (const std::string_view text : {"",
                                      "2018-04-05",
                                      "2018-04-05T17:31Z",
                                      "2018-04-05T17:31:00",
                                      "2018-04-05 17:31:00Z",
                                      "2018-4-05T17:31:00Z",
                                      "2018-04-05T17:31:00.Z",
                                      "2018-04-05T17:31:00.1234567890Z",
                                      "2018-04-05T17:31:00,5Z",
                                      "2018-02-29T00:00:00Z",
                                      "2018-00-05T17:31:00Z",
                                      "2018-13-05T17:31:00Z",
                                      "2018-04-31T17:31:00Z",
                                      "2018-04-00T17:31:00Z",
                                      "2018-04-05T24:00:00Z",
                                      "2018-04-05T17:60:00Z",
                                      "2016-12-31T23:59:60Z",
                                      "2018-04-05T17:31:00+24:00",
                                      "2018-04-05T17:31:00+02:60",
                                      "2018-04-05T17:31:00+0200",
                                      "2018-04-05T17:31:00+02",
                                      "2018-04-05T17:31:00 Z",
                                      "2018-04-05T17:31:00ZZ",
                                      " 2018-04-05T17:31:00Z",
                                      "1969-12-31T23:59:59Z",
                                      "1970-01-01T00:00:00+00:01",
                                      "9999-12-31T23:59:59-00:01",
                                      "+2018-04-05T17:31:00Z",
                                      "20180405T173100Z",
                                      "1522949460"}) {
    EXPECT_EQ(microseconds_of(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Timestamp, IsReadBackAsItWasWritten, ()) {
  const Timestamp time{std::chrono::microseconds{*rc::gen::inRange<std::int64_t>(0, 253402300800000000)}};
  RC_ASSERT(writable(time));
  RC_ASSERT(read_timestamp(write_timestamp(time)) == time);
}

TEST(Timestamp, IsWrittenInUtcWithAFractionOnlyWhereThereIsOne) {
  EXPECT_EQ(write_timestamp(*read_timestamp("2018-04-05T19:31:00+02:00")), "2018-04-05T17:31:00Z");
  EXPECT_EQ(write_timestamp(*read_timestamp("2018-04-05T17:31:00.5Z")), "2018-04-05T17:31:00.500000Z");
}

}  // namespace
}  // namespace onceward
