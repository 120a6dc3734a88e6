#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "onceward/claim.h"
#include "onceward/fault.h"

namespace onceward {
namespace {

constexpr int kReasons = static_cast<int>(Reason::number_out_of_range) + 1;
constexpr int kFaults = static_cast<int>(FaultCode::transaction_failed) + 1;

TEST(Names, EveryReasonHasACodeOfItsOwn) {
  std::set<std::string_view> codes;
  for (int i = 0; i < kReasons; ++i) codes.insert(code(static_cast<Reason>(i)));
  EXPECT_EQ(codes.size(), static_cast<std::size_t>(kReasons));
  EXPECT_FALSE(codes.contains(""));
  EXPECT_EQ(code(static_cast<Reason>(kReasons)), "") << "a Reason was added behind the last one: raise kReasons";
}

TEST(Names, EveryReasonHasARowInItsPage) {
  std::ifstream file(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/reasons.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (int i = 0; i < kReasons; ++i) {
    const std::string row = "| `" + std::string(code(static_cast<Reason>(i))) + "` |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(Names, EveryFaultHasACodeOfItsOwn) {
  std::set<std::string_view> codes;
  for (int i = 0; i < kFaults; ++i) codes.insert(code(static_cast<FaultCode>(i)));
  EXPECT_EQ(codes.size(), static_cast<std::size_t>(kFaults));
  EXPECT_FALSE(codes.contains(""));
}

TEST(Names, EveryStateAndVerdictHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::int16_t i = 1; i <= 10; ++i) names.insert(name(static_cast<State>(i)));
  EXPECT_EQ(names.size(), 10u);
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(name(Verdict::first), "first");
  EXPECT_EQ(name(Verdict::duplicate), "duplicate");
  EXPECT_EQ(name(Verdict::conflict), "conflict");
  EXPECT_EQ(name(Verdict::held), "held");
  EXPECT_EQ(name(Verdict::fenced), "fenced");
}

TEST(Names, AModeIsFoundByItsName) {
  for (int i = 0; i < 6; ++i) EXPECT_EQ(mode_named(name(static_cast<Mode>(i))), static_cast<Mode>(i));
  EXPECT_EQ(mode_named(""), std::nullopt);
  EXPECT_EQ(mode_named("Live"), std::nullopt);
}

TEST(Names, AnOutcomeLeavesItsState) {
  EXPECT_EQ(state_of(Done{}), State::processed);
  EXPECT_EQ(state_of(Ignored{}), State::ignored);
  EXPECT_EQ(state_of(Rejected{}), State::rejected);
  EXPECT_EQ(state_of(Retry{}), State::retryable_failed);
  EXPECT_EQ(state_of(Failed{}), State::quarantined);
}

TEST(Names, AKeyLooksLikeAUuid) {
  Key key;
  for (unsigned char i = 0; i < 16; ++i) key.bytes[i] = static_cast<unsigned char>(i * 17);
  EXPECT_EQ(to_string(key), "00112233-4455-6677-8899-aabbccddeeff");
}

}  // namespace
}  // namespace onceward
