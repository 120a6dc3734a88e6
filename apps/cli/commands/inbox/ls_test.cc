#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class InboxList : public CommandOnStore {
 protected:
  void receive(const std::string& id, const fixtures::Handler& handler = fixtures::insert_effect) {
    apply(fixtures::Inbound(declaration_, {{.id = id, .idempotency_key = id}}), handler);
  }
};

TEST_P(InboxList, ShowsWhatWasReceivedNewestFirst) {
  receive("a");
  receive("b", [](const Envelope&, Transaction&) { return Rejected{"too_late"}; });
  const auto rows = json({"inbox", "ls"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("id"), "b");
  EXPECT_EQ(rows[0].at("state"), "REJECTED");
  EXPECT_EQ(rows[0].at("code"), "too_late");
  EXPECT_EQ(rows[1].at("state"), "PROCESSED");
  EXPECT_EQ(rows[1].at("consumer"), "billing");
  EXPECT_EQ(rows[1].at("next_attempt_at"), nullptr);
}

TEST_P(InboxList, FiltersAndPages) {
  for (const char* id : {"a", "b", "c"}) receive(id);
  const auto first = say({"inbox", "ls", "--limit", "2", "-o", "ndjson"});
  EXPECT_EQ(std::ranges::count(first.out, '\n'), 2);
  const std::size_t at = first.err.find("--after ");
  ASSERT_NE(at, std::string::npos) << first.err;
  const auto rest = json({"inbox", "ls", "--after", first.err.substr(at + 8, 36)});
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].at("id"), "a");
  EXPECT_EQ(json({"inbox", "ls", "--state", "REJECTED"}).size(), 0u);
  EXPECT_EQ(json({"inbox", "ls", "--state", "PROCESSED"}).size(), 3u);
  EXPECT_EQ(json({"inbox", "ls", "--state", "processed"}).size(), 3u);
  EXPECT_EQ(
      json({"inbox", "ls", "--id", "b", "--producer", "shop", "--tenant", "main", "--consumer", "billing"}).size(), 1u);
  EXPECT_EQ(json({"inbox", "ls", "--tenant", ""}).size(), 0u);
  EXPECT_EQ(json({"inbox", "ls", "--key", rest[0].at("key").get<std::string>()}).size(), 1u);
  EXPECT_EQ(json({"inbox", "ls", "--since", "1h"}).size(), 3u);
  EXPECT_EQ(json({"inbox", "ls", "--until", "1h"}).size(), 0u);
  EXPECT_EQ(json({"inbox", "ls", "--since", "2020-01-02T03:04:05Z"}).size(), 3u);
}

TEST_P(InboxList, MistakesHaveTheirOwnExitCodes) {
  const auto nobody = say({"inbox", "ls", "--consumer", "biling"});
  EXPECT_EQ(nobody.exit_code, 3);
  EXPECT_TRUE(has(nobody.err, "the store knows: billing")) << nobody.err;
  EXPECT_EQ(say({"inbox", "ls", "--after", "80000000-0000-4000-8000-000000000001"}).exit_code, 3);
  EXPECT_EQ(say({"inbox", "ls", "--after", "17"}).exit_code, 2);
  EXPECT_EQ(say({"inbox", "ls", "--state", "lost"}).exit_code, 2);
  EXPECT_EQ(say({"inbox", "ls", "--since", "yesterday"}).exit_code, 2);
  EXPECT_EQ(say({"inbox", "ls", "--limit", "1001"}).exit_code, 2);
  EXPECT_EQ(say({"inbox", "ls", "--limit", "0"}).exit_code, 2);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(InboxList);

}  // namespace
}  // namespace onceward::cli
