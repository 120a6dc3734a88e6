#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class QuarantineList : public CommandOnStore {};

TEST_P(QuarantineList, ListsFiltersPagesAndCounts) {
  const auto a = park({.reason = "conflict", .id = "a"});
  park({.id = "b", .state = "resolved"});
  const auto c = park({.id = "c"});
  const auto all = say({"quarantine", "ls", "--limit", "2", "-o", "json"});
  EXPECT_EQ(nlohmann::json::parse(all.out).at(0).at("number"), c);
  EXPECT_TRUE(has(all.err, "2 of 3; there are more: --after")) << all.err;
  EXPECT_EQ(json({"quarantine", "ls", "--after", std::to_string(c)}).size(), 2u);
  EXPECT_EQ(json({"quarantine", "ls", "--state", "parked"}).size(), 2u);
  EXPECT_EQ(json({"quarantine", "ls", "--reason", "conflict"}).at(0).at("number"), a);
  EXPECT_EQ(json({"quarantine", "ls", "--consumer", "billing", "--id", "c", "--producer", "shop"}).size(), 1u);
  EXPECT_EQ(json({"quarantine", "ls", "--since", "2h"}).size(), 0u) << "they were parked in 2023";
  EXPECT_EQ(say({"quarantine", "ls", "--consumer", "nobody"}).exit_code, 3);
  EXPECT_EQ(say({"quarantine", "ls", "--state", "gone"}).exit_code, 2);
}

TEST_P(QuarantineList, NothingIsAnEmptyListAndNoMistake) {
  const auto none = say({"quarantine", "ls", "-o", "json"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "[]\n");
}

// An id is whatever a producer sent: it must not command the terminal of whoever looks at it.
TEST_P(QuarantineList, ControlCharactersOfAnIdAreShownAsEscapes) {
  park({.id = "a\x1b[2Jb"});
  const auto shown = say({"quarantine", "ls"});
  EXPECT_EQ(shown.out.find('\x1b'), std::string::npos);
  EXPECT_TRUE(has(shown.out, "a\\x1b[2Jb")) << shown.out;
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(QuarantineList);

}  // namespace
}  // namespace onceward::cli
