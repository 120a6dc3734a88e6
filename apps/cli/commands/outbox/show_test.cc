#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class OutboxShow : public CommandOnStore {};

TEST_P(OutboxShow, TellsWhyAndShowsThePayloadOnlyWhenItIsAskedFor) {
  const std::string number = std::to_string(stage({.id = "a", .state = "aside"}));
  const auto table = say({"outbox", "show", number});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_TRUE(has(table.out, "no queue is bound")) << table.out;
  EXPECT_FALSE(has(table.out, "secret")) << table.out;
  const auto row = json({"outbox", "show", number});
  EXPECT_EQ(row.at("state"), "quarantined");
  EXPECT_EQ(row.at("attempts"), 3);
  EXPECT_EQ(row.at("due_at"), nullptr);
  EXPECT_EQ(row.at("aggregate_version"), 7);
  EXPECT_EQ(row.at("event_version"), nullptr);
  EXPECT_EQ(row.at("cause"), "80000000-0000-4000-8000-0000000000ff");
  EXPECT_EQ(row.at("payload_bytes"), 6);
  EXPECT_FALSE(row.contains("payload"));
  EXPECT_EQ(json({"outbox", "show", number, "--payload"}).at("payload"), "secret");
}

// They are as secret as its payload.
TEST_P(OutboxShow, HeadersOfADeadLettersMessageAreNotShown) {
  const std::string number = std::to_string(stage({.id = "a"}));
  reader().run(
      "UPDATE " + table("outbox") + " SET content_type = 'application/vnd.onceward.dead-letter', headers = " +
      R"('{"onceward-reason":"conflict","onceward-envelope":"{\"headers\":{\"authorization\":\"secret\"}}"}')");
  for (const auto& spoken : {say({"outbox", "show", number}), say({"outbox", "ls", "-o", "json"})}) {
    EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
    EXPECT_TRUE(has(spoken.out, "conflict")) << spoken.out;
    EXPECT_FALSE(has(spoken.out, "secret")) << spoken.out;
  }
}

TEST_P(OutboxShow, ShowsWhatIsPending) {
  const std::string number = std::to_string(stage({.id = "a"}));
  EXPECT_EQ(json({"outbox", "show", number}).at("state"), "pending");
  EXPECT_EQ(json({"outbox", "show", number, "--payload"}).at("payload"), "secret");
}

TEST_P(OutboxShow, MistakesHaveTheirOwnExitCodes) {
  EXPECT_EQ(say({"outbox", "show", "17"}).exit_code, 3);
  EXPECT_EQ(say({"outbox", "show", "seventeen"}).exit_code, 2);
  EXPECT_EQ(say({"outbox", "show"}).exit_code, 2);
  EXPECT_EQ(say({"outbox", "shw", "17"}).exit_code, 2);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(OutboxShow);

}  // namespace
}  // namespace onceward::cli
