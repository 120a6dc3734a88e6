#include "apps/cli/suite.h"

namespace onceward::cli {
namespace {

class LedgerShown : public CommandOnStore {};

TEST_P(LedgerShown, CallsAreListedByFilterAndPaged) {
  ask({.key = "a", .state = "unknown"});
  ask({.key = "b", .state = "failed", .endpoint = "mail"});
  const auto c = ask({.key = "c", .state = "unknown", .business_key = "order-1"});
  const auto all = json({"ledger", "ls"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at("key"), "c");
  EXPECT_EQ(all[0].at("requested_by"), "billing");
  EXPECT_EQ(json({"ledger", "ls", "--state", "unknown"}).size(), 2u);
  EXPECT_EQ(json({"ledger", "ls", "--endpoint", "mail"}).at(0).at("key"), "b");
  EXPECT_EQ(json({"ledger", "ls", "--business-key", "order-1"}).at(0).at("number"), c);
  EXPECT_EQ(json({"ledger", "ls", "--key", "a"}).size(), 1u);
  EXPECT_EQ(json({"ledger", "ls", "--since", "1h"}).size(), 0u);
  const auto page = say({"ledger", "ls", "--limit", "1", "-o", "ndjson"});
  EXPECT_TRUE(has(page.err, fmt::format("1 of 3; there are more: --after {}", c))) << page.err;
  EXPECT_EQ(json({"ledger", "ls", "--limit", "1", "--after", std::to_string(c)}).at(0).at("key"), "b");
  EXPECT_EQ(say({"ledger", "ls", "--state", "lost"}).exit_code, 2);
}

TEST_P(LedgerShown, OneCallIsShownWithItsAttempts) {
  const auto number = ask({.state = "unknown", .external_ref = "ch_1"});
  attempt_at(number, "unknown");
  const auto shown = json({"ledger", "show", std::to_string(number)});
  EXPECT_EQ(shown.at("state"), "unknown");
  EXPECT_EQ(shown.at("body_bytes"), 6);
  ASSERT_EQ(shown.at("history").size(), 1u);
  EXPECT_EQ(shown["history"][0].at("status"), 500);
  EXPECT_EQ(shown["history"][0].at("response_hash"), "ab");
  EXPECT_TRUE(shown.at("audit").empty());
  const auto table = say({"ledger", "show", std::to_string(number)});
  EXPECT_TRUE(has(table.out, "ch_1")) << table.out;
}

TEST_P(LedgerShown, TheBodyIsShownOnlyToWhoAsksForIt) {
  const auto number = std::to_string(ask({}));
  for (const char* output : {"table", "json", "ndjson"}) {
    const auto hidden = say({"ledger", "show", number, "-o", output});
    EXPECT_FALSE(has(hidden.out + hidden.err, "secret")) << hidden.out;
    EXPECT_TRUE(has(say({"ledger", "show", number, "--payload", "-o", output}).out, "secret"));
  }
  EXPECT_FALSE(has(say({"ledger", "ls", "-o", "json"}).out, "secret"));
}

TEST_P(LedgerShown, WhatIsNotThereIsExitCode3) {
  const auto spoken = say({"ledger", "show", "17"});
  EXPECT_EQ(spoken.exit_code, 3);
  EXPECT_TRUE(has(spoken.err, "no row 17")) << spoken.err;
}

TEST_P(LedgerShown, EveryCommandHasHelpWithAnExample) {
  for (const char* verb : {"ls", "show", "approve", "refuse", "retry", "cancel", "reconcile"}) {
    const auto spoken = fixtures::speak({ONCEWARD_BINARY, "ledger", verb, "--help"});
    EXPECT_EQ(spoken.exit_code, 0);
    EXPECT_TRUE(has(spoken.out, std::string("Example: onceward ledger ") + verb)) << spoken.out;
  }
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(LedgerShown);

}  // namespace
}  // namespace onceward::cli
