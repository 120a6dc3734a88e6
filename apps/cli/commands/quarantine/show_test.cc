#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class QuarantineShow : public CommandOnStore {};

TEST_P(QuarantineShow, TellsWhyAndShowsThePayloadOnlyWhenItIsAskedFor) {
  const std::string number = std::to_string(park({.reason = "bad_field", .id = "a"}));
  const auto table = say({"quarantine", "show", number});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_TRUE(has(table.out, "it was refused")) << table.out;
  EXPECT_FALSE(has(table.out, "secret")) << table.out;
  const auto row = json({"quarantine", "show", number});
  EXPECT_EQ(row.at("reason"), "bad_field");
  EXPECT_EQ(row.at("attempts"), 3);
  EXPECT_EQ(row.at("payload_bytes"), 6);
  EXPECT_FALSE(row.contains("payload"));
  EXPECT_EQ(json({"quarantine", "show", number, "--payload"}).at("payload"), "secret");
}

TEST_P(QuarantineShow, MistakesHaveTheirOwnExitCodes) {
  EXPECT_EQ(say({"quarantine", "show", "17"}).exit_code, 3);
  EXPECT_EQ(say({"quarantine", "show", "seventeen"}).exit_code, 2);
  EXPECT_EQ(say({"quarantine", "show"}).exit_code, 2);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(QuarantineShow);

}  // namespace
}  // namespace onceward::cli
