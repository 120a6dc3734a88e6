// When a call may be made at all: its time, a person's word, and the limits of its endpoint.
#include "tests/dispatching/suite.h"

namespace onceward::dispatch {
namespace {

class Limits : public OnEveryStore {
 protected:
  void approve(const std::string& key, std::chrono::milliseconds lifetime) {
    put(key, fmt::format("state = 'approved', decided_by = 'ada', approved_until = {}, due_at = {}", from_now(lifetime),
                         from_now(0ms)));
  }
};
ONCEWARD_ON_EVERY_STORE(Limits);

TEST_P(Limits, ACallIsNotMadeBeforeItsTime) {
  const auto time = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now() + 400ms);
  stage(Call{.endpoint = "gateway", .key = "k", .body = "{}", .not_before = time});
  stage(Call{.endpoint = "gateway", .key = "much later", .body = "{}", .not_before = time + 1h});
  put("much later", "due_at = " + from_now(0ms));  // as an older program leaves it
  const auto dispatcher = start();
  await_state("k", "succeeded");
  EXPECT_GE(std::chrono::system_clock::now(), time);
  EXPECT_EQ(provider_.calls(), 1u);
  EXPECT_EQ(state("much later"), "planned");
}

TEST_P(Limits, ACallThatWasCancelledIsNotMade) {
  const auto time = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now() + 1h);
  stage(Call{.endpoint = "gateway", .key = "k", .body = "{}", .not_before = time});
  const auto unit = store_->begin({});
  EXPECT_EQ(unit->whole().cancel("gateway", "k"), Cancelled::cancelled);
  ASSERT_EQ(unit->commit(), Commit::committed);
  put("k", "not_before = NULL");
  const auto dispatcher = start();
  let_another_pass();
  EXPECT_EQ(provider_.calls_of("k"), 0u);
  EXPECT_EQ(state("k"), "cancelled");
}

// The other side knows nothing of tenants: under one key the second would be given the first one's outcome.
TEST_P(Limits, TheSameKeyOfTwoTenantsIsTwoKeysToTheOtherSide) {
  const Declaration consumer = fixtures::consumer();
  const Enrolled enrolled = store_->enroll(consumer);
  for (const std::string tenant : {"north", "south"}) {
    fixtures::apply(*store_, enrolled, Inbound(consumer, {{.id = tenant, .tenant = tenant}}),
                    [](const Envelope&, Transaction& transaction) -> Outcome {
                      transaction.stage(Call{.endpoint = "gateway", .key = "capture/1", .body = "{}"});
                      return Done{};
                    });
  }
  const auto dispatcher = start();
  await("both are made", [&] { return in_state("succeeded") == 2; });
  EXPECT_EQ(provider_.calls_of("@north/capture/1"), 1u);
  EXPECT_EQ(provider_.calls_of("@south/capture/1"), 1u);
}

TEST_P(Limits, CallsOfOtherEndpointsAreLeftAlone) {
  stage(Call{.endpoint = "mail", .key = "k", .body = "{}"});
  const auto dispatcher = start();
  let_another_pass();
  EXPECT_EQ(state("k"), "planned");
}

TEST_P(Limits, WhatNeedsApprovalWaitsAndIsMadeOnceWhenItIsGiven) {
  declaration_.approval = Approval::required;
  const auto dispatcher = start();
  stage("k");
  await_state("k", "waiting");
  await("it is counted", [&] { return dispatcher->tally.waiting == 1u; });
  EXPECT_EQ(provider_.calls(), 0u);
  approve("k", 1h);
  await_state("k", "succeeded");
  EXPECT_EQ(provider_.calls(), 1u);
}

TEST_P(Limits, ACallThatAsksForApprovalItselfWaits) {
  stage(Call{.endpoint = "gateway", .key = "k", .body = "{}", .approval = true});
  const auto dispatcher = start();
  let_another_pass();
  EXPECT_EQ(state("k"), "waiting");
  EXPECT_EQ(provider_.calls_of("k"), 0u);
}

TEST_P(Limits, AnExpiredApprovalDoesNotFire) {
  stage("k");
  approve("k", -1ms);
  const auto dispatcher = start();
  await_state("k", "waiting");
  EXPECT_EQ(of("k", "code"), "approval_expired");
  let_another_pass();
  EXPECT_EQ(provider_.calls_of("k"), 0u);
}

TEST_P(Limits, WhatWasApprovedAndPutOffStaysApprovedOnlyUntilThen) {
  stage("k");
  approve("k", 1500ms);
  provider_.answer_with([](const Provider::Request&, int) {
    EndpointAnswer answer = Provider::told(Kind::later);
    answer.after = 2s;
    return answer;
  });
  const auto dispatcher = start();
  await_state("k", "approved");
  await_state("k", "waiting");
  EXPECT_EQ(of("k", "code"), "approval_expired");
  EXPECT_EQ(provider_.calls_of("k"), 1u);
}

TEST_P(Limits, NoMoreCallsAreUnderWayThanAllowed) {
  declaration_.concurrency = 3;
  provider_.hold(true);
  stage_many(20);
  const auto dispatcher = start();
  await("as many as allowed are", [&] { return provider_.calls() == 3; });
  provider_.hold(false);
  await("all are made", [&] { return in_state("succeeded") == 20; });
  EXPECT_LE(provider_.most_under_way(), 3u);
}

TEST_P(Limits, TheRateIsHeldWhenABacklogIsWorkedOff) {
  declaration_.rate = 40;
  declaration_.poll = 10s;  // nor does it wait for that
  stage_many(60);
  const auto dispatcher = start();
  await("all are made", [&] { return in_state("succeeded") == 60; });
  const auto calls = provider_.all();
  EXPECT_GE(calls.back().at - calls.front().at, 1300ms);
  for (std::size_t i = 0; i + 20 < calls.size(); ++i) {
    EXPECT_GE(calls[i + 20].at - calls[i].at, 380ms) << "calls " << i << " to " << i + 20;
  }
}

TEST_P(Limits, AnEndpointThatIsAwayIsLeftAloneAndTriedWithOneCall) {
  declaration_.circuit_failures = 5;
  declaration_.circuit_pause = 300ms;
  declaration_.concurrency = 5;
  declaration_.retry = {.attempts = 3, .first_delay = 1ms, .longest_delay = 2ms};
  stage_many(30);
  std::atomic<bool> away = true;
  provider_.answer_with(
      [&](const Provider::Request&, int) { return Provider::told(away ? Kind::not_sent : Kind::succeeded); });
  const auto dispatcher = start();
  await("it is left alone", [&] { return dispatcher->tally.circuit_opened == 1u; });
  EXPECT_LE(provider_.calls(), 9u) << "no more than were under way when the last one of the row came";
  await("it says so", [&] { return (**dispatcher).trouble().find("circuit") != std::string::npos; });
  const std::size_t before = provider_.calls();
  await("one call finds out", [&] { return provider_.calls() == before + 1; });
  const auto calls = provider_.all();
  EXPECT_GE(calls.back().at - calls[before - 1].at, 250ms);
  away = false;
  await("all are made", [&] { return in_state("succeeded") == 30; });
  EXPECT_EQ((**dispatcher).trouble(), "");
  EXPECT_EQ(dispatcher->tally.circuit_opened, 1u);
}

TEST_P(Limits, ADispatcherThatIsWokenNeedNotLook) {
  declaration_.poll = 1h;
  const auto dispatcher = start();
  store_->on_commit([&] { (**dispatcher).wake(); });
  for (int i = 0; i < 5; ++i) {
    stage(fmt::format("k{}", i));
    await_state(fmt::format("k{}", i), "succeeded");
  }
  store_->on_commit({});
}

TEST_P(Limits, ADeclarationThatMakesNoSenseIsRefused) {
  declaration_.lease = options_.longest;
  EXPECT_THROW(start(), std::invalid_argument);
}

}  // namespace
}  // namespace onceward::dispatch
