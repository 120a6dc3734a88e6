#include <algorithm>

#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class OutboxList : public CommandOnStore {};

TEST_P(OutboxList, ListsFiltersPagesAndCounts) {
  const auto a = stage({.id = "a", .type = "payment.made"});
  const auto b = stage({.id = "b", .state = "aside"});
  const auto c = stage({.id = "c", .state = "behind", .key = ""});
  const auto all = say({"outbox", "ls", "--limit", "2", "-o", "json"});
  EXPECT_EQ(nlohmann::json::parse(all.out).at(0).at("number"), c);
  EXPECT_TRUE(has(all.err, "2 of 3; there are more: --after " + std::to_string(b))) << all.err;
  EXPECT_EQ(json({"outbox", "ls", "--after", std::to_string(b)}).at(0).at("number"), a);
  EXPECT_EQ(json({"outbox", "ls", "--state", "pending"}).at(0).at("number"), a);
  EXPECT_EQ(json({"outbox", "ls", "--state", "quarantined"}).at(0).at("state"), "quarantined");
  EXPECT_EQ(json({"outbox", "ls", "--type", "payment."}).at(0).at("number"), a);
  EXPECT_EQ(json({"outbox", "ls", "--key", ""}).at(0).at("number"), c);
  EXPECT_EQ(json({"outbox", "ls", "--id", "b", "--until", "2h"}).size(), 1u);
  EXPECT_EQ(json({"outbox", "ls", "--since", "2h"}).size(), 0u) << "they were staged in 2023";
  const auto wrong = say({"outbox", "ls", "--state", "aside"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(has(wrong.err, "pending, waiting, behind, quarantined, discarded")) << wrong.err;
}

TEST_P(OutboxList, NothingIsAnEmptyListAndNoMistake) {
  const auto none = say({"outbox", "ls", "-o", "json"});
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_EQ(none.out, "[]\n");
  EXPECT_EQ(none.err, "0 of 0\n");
}

TEST_P(OutboxList, ShowsOneRowALineAndNoPayload) {
  stage({.id = "a\x1b[2Jb"});
  stage({.id = "b", .state = "waiting"});
  const auto table = say({"outbox", "ls"});
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos) << "an id must not command the terminal";
  EXPECT_TRUE(has(table.out, "NUMBER") && has(table.out, "returned")) << table.out;
  EXPECT_FALSE(has(table.out, "secret"));
  const auto lines = say({"outbox", "ls", "-o", "ndjson"});
  EXPECT_EQ(std::ranges::count(lines.out, '\n'), 2);
  EXPECT_FALSE(has(lines.out, "secret"));
}

TEST_P(OutboxList, SaysWhichTargetsArePaused) {
  EXPECT_EQ(say({"outbox", "pause", "orders", "--yes", "--who", "anna", "--why", "it is moved"}).exit_code, 0);
  const auto listed = say({"outbox", "ls", "-o", "json"});
  EXPECT_EQ(listed.out, "[]\n");
  EXPECT_TRUE(has(listed.err, "orders") && has(listed.err, "anna") && has(listed.err, "it is moved")) << listed.err;
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(OutboxList);

}  // namespace
}  // namespace onceward::cli
