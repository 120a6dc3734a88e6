#include "src/records/outbox_action.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "src/relay/waiting.h"
#include "tests/records/doubtful_store.h"
#include "tests/records/suite.h"

namespace onceward::records {
namespace {

class OutboxDeeds : public OnEveryStore {
 protected:
  OutboxCommand command(Action action, const OutboxFilter& filter = {}) {
    return {action, filter, preview(*store_, filter).numbers, "anna", "the exchange is there", 500};
  }
  Progress carry_out(Action action, const OutboxFilter& filter = {}) {
    return records::carry_out(*store_, command(action, filter));
  }
  std::int64_t audited() { return under_->rows_in("audit"); }
  // What a relay would send now.
  std::vector<std::string> due() {
    const int slots[] = {0};
    std::vector<std::string> ids;
    for (const relay::OutboxRow& row :
         relay::Waiting(*store_, "shop", {}, std::chrono::seconds(1)).due(slots, "", 100)) {
      ids.emplace_back(row.envelope.message_id().text());
    }
    return ids;
  }
  using Ids = std::vector<std::string>;
};

TEST_P(OutboxDeeds, RetryMakesThemDueAtOnceWithAllTheirAttempts) {
  const auto a = stage({.id = "a", .state = "waiting"}), b = stage({.id = "b", .state = "aside", .key = "order-2"});
  EXPECT_EQ(due(), Ids{});
  EXPECT_EQ(carry_out(Action::retry).changed, 2);
  for (const auto number : {a, b}) {
    const OutboxRow row = read_outgoing(*store_, number).value();
    EXPECT_EQ(row.state, OutboxState::waiting);
    EXPECT_EQ(row.attempts, 0);
    EXPECT_EQ(row.reason, "returned") << "what was wrong stays to be read";
  }
  EXPECT_EQ(due(), (Ids{"a", "b"}));
}

TEST_P(OutboxDeeds, DiscardLeavesTheRowsAsEvidence) {
  const auto a = stage({.id = "a", .state = "waiting"}), b = stage({.id = "b", .state = "aside"});
  EXPECT_EQ(carry_out(Action::discard).changed, 2);
  for (const auto number : {a, b}) {
    const OutboxRow row = read_outgoing(*store_, number).value();
    EXPECT_EQ(row.state, OutboxState::discarded);
    EXPECT_EQ(row.attempts, 3);
    EXPECT_EQ(read_outgoing_payload(*store_, number), "secret");
  }
  EXPECT_EQ(due(), Ids{});
}

TEST_P(OutboxDeeds, AfterADiscardThoseBehindItGoOn) {
  const auto head = stage({.id = "head", .state = "aside"});
  stage({.id = "next", .state = "behind"});
  stage({.id = "last", .state = "behind"});
  reader().run(fmt::format("UPDATE {} SET due_at = {}", table("outbox_waiting"), time_literal(1'700'000'000)));
  EXPECT_EQ(due(), Ids{});
  EXPECT_EQ(carry_out(Action::discard).changed, 1);
  EXPECT_EQ(staged_state(head), "discarded");
  EXPECT_EQ(due(), (Ids{"next", "last"}));
}

TEST_P(OutboxDeeds, OnlyWhatWaitsOrIsQuarantinedIsTouched) {
  const auto pending = stage({}), behind = stage({.state = "behind"}), discarded = stage({.state = "discarded"});
  for (const Action action : {Action::retry, Action::discard}) {
    OutboxCommand all = command(action);
    EXPECT_EQ(all.numbers, Numbers{});
    all.numbers = {pending, behind, discarded};
    EXPECT_EQ(records::carry_out(*store_, all).changed, 0);
  }
  EXPECT_EQ(read_outgoing(*store_, pending)->state, OutboxState::pending);
  EXPECT_EQ(staged_state(behind), "behind");
  EXPECT_EQ(staged_state(discarded), "discarded");
  EXPECT_EQ(audited(), 0);
}

TEST_P(OutboxDeeds, ThePreviewCountsAndShowsTheFirstTen) {
  stage({.id = "other", .state = "aside", .type = "other"});
  for (int i = 0; i < 12; ++i) stage({.id = fmt::format("m{}", i), .state = i % 2 ? "aside" : "waiting"});
  for (const char* state : {"pending", "behind", "discarded"}) stage({.id = state, .state = state});
  const OutboxPreview seen = preview(*store_, {.type = "order."});
  EXPECT_EQ(seen.matching, 15);
  EXPECT_EQ(seen.eligible, 12);
  EXPECT_EQ(seen.numbers.size(), 12u);
  ASSERT_EQ(seen.first.size(), 10u);
  EXPECT_EQ(seen.first[0].id, "m0");
  EXPECT_EQ(preview(*store_, {.states = {OutboxState::waiting}}).eligible, 6);
  EXPECT_EQ(staged_in("waiting"), 6) << "a preview changes nothing";
}

// A relay goes on while a person thinks: what stood behind may wait by itself then, and what was pending too.
TEST_P(OutboxDeeds, WhatThePreviewHasNotSeenIsLeftAlone) {
  const auto behind = stage({.id = "behind", .state = "behind"});
  const auto shown = stage({.id = "shown", .state = "aside"});
  const OutboxCommand confirmed = command(Action::discard);
  reader().run(fmt::format("UPDATE {} SET state = 'waiting' WHERE position = {}", table("outbox_waiting"), behind));
  const auto later = stage({.id = "later", .state = "waiting"});
  EXPECT_EQ(records::carry_out(*store_, confirmed).changed, 1);
  EXPECT_EQ(staged_state(behind), "waiting");
  EXPECT_EQ(staged_state(shown), "discarded");
  EXPECT_EQ(staged_state(later), "waiting");
}

TEST_P(OutboxDeeds, WhatHasLeftSinceThePreviewIsPassedOver) {
  stage_many(7, "aside");
  OutboxCommand bulk = command(Action::discard);
  bulk.rows_of_a_step = 2;
  reader().run(fmt::format("DELETE FROM {} WHERE position BETWEEN 2 AND 5", table("outbox_waiting")));
  EXPECT_EQ(records::carry_out(*store_, bulk).changed, 3);
  EXPECT_EQ(staged_in("discarded"), 3);
}

TEST_P(OutboxDeeds, ByNumberOrByFilterTheRestIsLeftAlone) {
  const auto a = stage({.id = "a", .state = "aside"}), b = stage({.id = "b", .state = "aside", .type = "other"});
  const auto c = stage({.id = "c", .state = "aside"}), d = stage({.id = "d", .state = "waiting"});
  EXPECT_EQ(carry_out(Action::discard, {.numbers = {a}}).changed, 1);
  EXPECT_EQ(carry_out(Action::retry, {.type = "oth"}).changed, 1);
  EXPECT_EQ(carry_out(Action::discard, {.states = {OutboxState::waiting}, .id = "d"}).changed, 1);
  EXPECT_EQ(staged_state(a), "discarded");
  EXPECT_EQ(staged_state(b), "waiting");
  EXPECT_EQ(staged_state(c), "aside");
  EXPECT_EQ(staged_state(d), "discarded");
}

TEST_P(OutboxDeeds, EachStepHasOneAuditRowThatSaysWhoAndWhyAndWhichRows) {
  stage_many(5, "aside");
  OutboxCommand bulk = command(Action::retry, {.states = {OutboxState::quarantined}, .type = "order."});
  bulk.rows_of_a_step = 2;
  const Progress progress = records::carry_out(*store_, bulk);
  EXPECT_EQ(progress.changed, 5);
  EXPECT_EQ(progress.steps, 3);
  const TextRows audit =
      reader().read("SELECT who, action, reason, object, detail FROM " + table("audit") + " ORDER BY number");
  ASSERT_EQ(audit.size(), 3u);
  for (const TextRow& row : audit) {
    EXPECT_EQ(row[0], "anna");
    EXPECT_EQ(row[1], "outbox.retry");
    EXPECT_EQ(row[2], "the exchange is there");
    EXPECT_EQ(nlohmann::json::parse(*row[4]).at("filter").dump(), R"({"state":"quarantined","type":"order."})");
  }
  EXPECT_EQ(audit[0][3], "outbox/1-2");
  EXPECT_EQ(nlohmann::json::parse(*audit[2][4]).at("numbers").dump(), "[5]");
}

TEST_P(OutboxDeeds, AStepInDoubtIsCountedOnceWhetherItLandedOrNot) {
  for (const bool lands : {true, false}) {
    reader().run("DELETE FROM " + table("outbox_waiting"));
    stage_many(3, "aside");
    DoubtfulStore doubtful(*store_, lands);
    OutboxCommand bulk = command(Action::discard);
    bulk.rows_of_a_step = 2;
    const auto before = audited();
    const Progress progress = records::carry_out(doubtful, bulk);
    EXPECT_EQ(doubtful.doubts, 1);
    EXPECT_EQ(progress.changed, 3) << lands;
    EXPECT_EQ(audited() - before, 2) << lands;
    EXPECT_EQ(staged_in("discarded"), 3);
  }
}

TEST_P(OutboxDeeds, AFailedStepLeavesNeitherAChangeNorAnAuditRow) {
  stage_many(3, "aside");
  const OutboxCommand all = command(Action::discard);
  without_audit([&] { EXPECT_EQ(fault_of([&] { records::carry_out(*store_, all); }), FaultCode::statement_failed); });
  EXPECT_EQ(staged_in("aside"), 3);
}

TEST_P(OutboxDeeds, WithoutWhoOrWhyOrOfOtherStatesNothingIsDone) {
  stage({.state = "aside"});
  OutboxCommand nobody = command(Action::discard), no_reason = nobody, pending = nobody;
  nobody.who = " ";
  no_reason.why = "";
  pending.filter.states = {OutboxState::pending};
  for (const OutboxCommand& wrong : {nobody, no_reason, pending}) {
    EXPECT_THROW(records::carry_out(*store_, wrong), std::invalid_argument);
  }
  EXPECT_EQ(staged_in("aside"), 1);
}

ONCEWARD_ON_EVERY_STORE(OutboxDeeds);

}  // namespace
}  // namespace onceward::records
