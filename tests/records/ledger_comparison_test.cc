#include "src/records/ledger_comparison.h"

#include <gmock/gmock.h>

#include "tests/records/suite.h"

namespace onceward::records {
namespace {

using Kind = Difference::Kind;

constexpr Timestamp since{std::chrono::seconds(1'700'000'000)};

LedgerRow call(const std::string& key, CallState state, const std::string& reference = {},
               std::chrono::seconds after = std::chrono::seconds(1)) {
  LedgerRow row;
  static std::int64_t numbers = 0;
  row.number = ++numbers;
  row.key = key;
  row.state = state;
  row.external_ref = reference;
  row.first_attempt_at = since + after;
  return row;
}

// "missing a", "extra b"...
std::vector<std::string> differences(const std::vector<LedgerRow>& ours, const std::vector<EndpointRecord>& theirs) {
  std::vector<std::string> told;
  for (const Difference& one : compare(ours, theirs, since).differences) {
    told.push_back(std::string(name(one.kind)) + " " + one.key);
  }
  return told;
}
using Told = std::vector<std::string>;

TEST(LedgerComparison, WhatBothHaveIsEqual) {
  const auto found = compare(std::vector{call("a", CallState::succeeded, "1"), call("b", CallState::succeeded)},
                             std::vector<EndpointRecord>{{"b", "2"}, {"a", "1"}}, since);
  EXPECT_EQ(found.equal, 2);
  EXPECT_TRUE(found.differences.empty());
}

TEST(LedgerComparison, WhatOnlyWeHaveIsMissing) {
  EXPECT_EQ(differences({call("a", CallState::succeeded), call("b", CallState::failed), call("c", CallState::unknown),
                         call("d", CallState::succeeded, "", std::chrono::seconds(-1))},
                        {}),
            Told{"missing a"});
}

TEST(LedgerComparison, WhatOnlyTheyHaveIsExtra) {
  EXPECT_EQ(differences({call("a", CallState::succeeded)}, {{"a", ""}, {"z", ""}}), Told{"extra z"});
}

TEST(LedgerComparison, WhatTheyHaveTwiceIsExtra) {
  for (const auto& theirs : {std::vector<EndpointRecord>{{"a", "1"}, {"a", "2"}}, {{"a", "2"}, {"a", "1"}}}) {
    const auto found = compare(std::vector{call("a", CallState::succeeded, "1")}, theirs, since);
    EXPECT_EQ(found.equal, 1);
    ASSERT_EQ(found.differences.size(), 1u);
    EXPECT_EQ(found.differences[0].kind, Kind::extra);
    EXPECT_EQ(found.differences[0].their_reference, "2");
    EXPECT_THAT(found.differences[0].what, testing::HasSubstr("more often"));
  }
}

TEST(LedgerComparison, TheSameKeyOfTwoTenantsIsTwoCalls) {
  LedgerRow north = call("a", CallState::succeeded, "1"), south = call("a", CallState::succeeded, "2");
  north.tenant = "north";
  south.tenant = "south";
  EXPECT_EQ(differences({north, south}, {{"@south/a", "2"}, {"@north/a", "1"}}), Told{});
  EXPECT_EQ(differences({north, south}, {{"@south/a", "2"}, {"a", "1"}}), (Told{"missing a", "extra a"}));
}

// A call that is made while they are asked may be on one side only.
TEST(LedgerComparison, WhatHasSucceededSinceTheyWereAskedIsNotMissing) {
  LedgerRow before = call("a", CallState::succeeded), after = call("b", CallState::succeeded);
  before.ended_at = since + std::chrono::seconds(10);
  after.ended_at = since + std::chrono::seconds(11);
  const auto found = compare(std::vector{before, after}, {}, since, since + std::chrono::seconds(10));
  ASSERT_EQ(found.differences.size(), 1u);
  EXPECT_EQ(found.differences[0].key, "a");
}

TEST(LedgerComparison, WhatWeDoNotSayHasSucceededDiffers) {
  for (const CallState state : {CallState::planned, CallState::attempting, CallState::failed, CallState::unknown,
                                CallState::waiting, CallState::approved, CallState::refused, CallState::cancelled}) {
    EXPECT_EQ(differences({call("a", state)}, {{"a", "1"}}), Told{"differing a"}) << name(state);
  }
  EXPECT_EQ(differences({call("a", CallState::unknown, "", std::chrono::seconds(-100))}, {{"a", "1"}}),
            Told{"differing a"})
      << "however old it is";
}

TEST(LedgerComparison, OtherReferencesDiffer) {
  EXPECT_EQ(differences({call("a", CallState::succeeded, "1")}, {{"a", "2"}}), Told{"differing a"});
  EXPECT_EQ(differences({call("a", CallState::succeeded, "1")}, {{"a", ""}}), Told{});
}

class LedgerToCompare : public OnEveryStore {};

TEST_P(LedgerToCompare, IsWhatWasAttemptedSinceThenAndWhatTheyName) {
  constexpr std::int64_t then = 1'700'000'000;
  ask({.key = "new", .state = "succeeded", .first_attempt_seconds = then});
  ask({.key = "old", .state = "succeeded", .first_attempt_seconds = then - 1});
  ask({.key = "named", .state = "unknown", .first_attempt_seconds = then - 1});
  ask({.key = "named", .state = "unknown", .tenant = "north", .first_attempt_seconds = then - 1});
  ask({.key = "never", .state = "planned"});
  ask({.key = "other", .state = "succeeded", .endpoint = "mail", .first_attempt_seconds = then});
  const std::vector<EndpointRecord> theirs{{"named", "1"}, {"@north/named", "3"}, {"other", "2"}};
  std::vector<std::string> keys;
  for (const LedgerRow& row : read_calls_to_compare(*store_, "gateway", since, theirs)) {
    keys.push_back(row.tenant + row.key);
  }
  EXPECT_THAT(keys, testing::UnorderedElementsAre("new", "named", "northnamed"));
}

TEST_P(LedgerToCompare, IsReadPageByPage) {
  ask_many(2'500, "planned");
  std::vector<EndpointRecord> theirs;
  for (int i = 1; i <= 2'500; ++i) theirs.push_back({"k" + std::to_string(i), ""});
  std::vector<std::int64_t> looked_at;
  const auto rows = read_calls_to_compare(*store_, "gateway", since, theirs, [&](std::int64_t rows_so_far) {
    looked_at.push_back(rows_so_far);
    return true;
  });
  EXPECT_EQ(rows.size(), 2'500u);
  EXPECT_EQ(looked_at, (std::vector<std::int64_t>{1'000, 2'000}));
}

ONCEWARD_ON_EVERY_STORE(LedgerToCompare);

}  // namespace
}  // namespace onceward::records
