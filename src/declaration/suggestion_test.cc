#include "src/declaration/suggestion.h"

#include <gtest/gtest.h>

namespace onceward::declaration {
namespace {

constexpr std::string_view keys[] = {"name", "owner", "source", "message_id", "time_bound"};

TEST(Suggestion, IsTheNearestWord) {
  EXPECT_EQ(nearest("ownr", keys), "owner");
  EXPECT_EQ(nearest("onwer", keys), "owner") << "neighbours swapped";
  EXPECT_EQ(nearest("Owner", keys), "owner");
  EXPECT_EQ(nearest("message-id", keys), "message_id");
  EXPECT_EQ(nearest("messageId", keys), "message_id");
  EXPECT_EQ(nearest("timebound", keys), "time_bound");
}

TEST(Suggestion, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest("colour", keys), std::nullopt);
  EXPECT_EQ(nearest("", keys), std::nullopt);
  EXPECT_EQ(nearest(std::string(10'000, 'n'), keys), std::nullopt);
  EXPECT_EQ(suggest("colour", keys), "one of: name, owner, source, message_id, time_bound");
  EXPECT_EQ(suggest("sauce", keys), "did you mean \"source\"?");
}

}  // namespace
}  // namespace onceward::declaration
