// What every answer makes of a call: the table of docs/decisions/0016-calls-that-leave.md.
#include "tests/dispatching/suite.h"

namespace onceward::dispatch {
namespace {

class Answers : public OnEveryStore {};
ONCEWARD_ON_EVERY_STORE(Answers);

TEST_P(Answers, ACallIsMadeOnceAndItsAnswerIsKept) {
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "call succeeded");
  EXPECT_EQ(provider_.all().at(0).body, "k body");
  EXPECT_EQ(of("k", "external_ref"), "ref-1");
  EXPECT_EQ(of("k", "attempts"), "1");
  EXPECT_EQ(of("k", "due_at"), "none");
  EXPECT_EQ(of("k", "owner"), "");
  EXPECT_NE(of("k", "first_attempt_at"), "none");
  EXPECT_NE(of("k", "ended_at"), "none");
  EXPECT_EQ(under_->reader().number("SELECT count(*) FROM " + under_->table("ledger_attempt") +
                                    " WHERE status = 201 AND response_hash IS NOT NULL AND external_ref = 'ref-1' AND "
                                    "ended_at >= began_at"),
            1);
  let_another_pass();
  EXPECT_EQ(provider_.calls_of("k"), 1u);
  EXPECT_EQ(dispatcher->tally.started, 2u);
}

TEST_P(Answers, ADefiniteNoIsFinal) {
  provider_.answer_with(Kind::failed);
  const auto dispatcher = start();
  stage("k");
  await_state("k", "failed");
  EXPECT_EQ(of("k", "code"), "failed");
  EXPECT_EQ(of("k", "detail"), "as told");
  let_another_pass();
  EXPECT_EQ(provider_.calls_of("k"), 1u);
}

TEST_P(Answers, WhatIsPutOffIsTriedAgainUntilItsBudgetIsUsedUp) {
  provider_.answer_with(Kind::later);
  const auto dispatcher = start();
  stage("k");
  await_state("k", "failed");
  EXPECT_EQ(of("k", "code"), "attempts_exhausted");
  EXPECT_EQ(attempts("k"), "call later, call later, call later");
  EXPECT_EQ(provider_.calls_of("k"), 3u);
}

TEST_P(Answers, TheOtherSideSaysWhenToComeAgain) {
  provider_.answer_with([](const Provider::Request&, int times) {
    EndpointAnswer answer = Provider::told(times == 1 ? Kind::later : Kind::succeeded);
    answer.after = 300ms;
    return answer;
  });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  const auto calls = provider_.all();
  EXPECT_GE(calls.at(1).at - calls.at(0).at, 300ms);
}

TEST_P(Answers, WhatWasNotSentUsesNoAttempt) {
  provider_.answer_with([](const Provider::Request&, int times) {
    return Provider::told(times <= 5 ? Kind::not_sent : Kind::succeeded);
  });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(provider_.calls_of("k"), 6u);
  EXPECT_EQ(of("k", "attempts"), "1");
}

TEST_P(Answers, AnUnknownOutcomeIsNeverSentAgainBlindly) {
  provider_.answer_with(Kind::unknown);
  const auto dispatcher = start();
  stage("k");
  await_state("k", "unknown");
  EXPECT_EQ(of("k", "code"), "outcome_unknown");
  EXPECT_EQ(of("k", "due_at"), "none");
  let_another_pass();
  dispatcher->stop();
  const auto another = start();
  let_another_pass();
  EXPECT_EQ(provider_.calls_of("k"), 1u);
  EXPECT_EQ(state("k"), "unknown");
}

TEST_P(Answers, AnUnknownOutcomeThatIsFoundDoneHasSucceeded) {
  options_.looks_up = true;
  provider_.answer_with([](const Provider::Request& request, int) {
    return Provider::told(request.look_up ? Kind::done : Kind::unknown);
  });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "call unknown, look_up done");
  EXPECT_EQ(of("k", "external_ref"), "ref-1");
  EXPECT_EQ(provider_.calls(), 1u);
}

TEST_P(Answers, NotDoneIsBelievedOnlyWhenTheRequestCannotBeOnItsWayAnyLonger) {
  options_.looks_up = true;
  provider_.answer_with([](const Provider::Request& request, int times) {
    return Provider::told(request.look_up ? Kind::not_done : times == 1 ? Kind::unknown : Kind::succeeded);
  });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "call unknown, look_up not_done, look_up not_done, call succeeded");
  const auto calls = provider_.all();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_GE(calls[1].at - calls[0].at, 200ms);
}

TEST_P(Answers, WhatStaysUnknownWaitsForAPersonAfterItsLookUps) {
  options_.looks_up = true;
  provider_.answer_with([](const Provider::Request& request, int) {
    return Provider::told(request.look_up ? Kind::still_unknown : Kind::unknown);
  });
  const auto dispatcher = start();
  stage("k");
  await("it waits for a person", [&] { return of("k", "code") == "look_ups_exhausted"; });
  EXPECT_EQ(state("k"), "unknown");
  EXPECT_EQ(of("k", "due_at"), "none");
  EXPECT_EQ(provider_.look_ups(), 3u);
  EXPECT_EQ(provider_.calls(), 1u);
}

TEST_P(Answers, AnIdempotentEndpointIsSentTheSameKeyAgain) {
  declaration_.idempotent = true;
  declaration_.key_lifetime = 3600s;
  provider_.answer_with(
      [](const Provider::Request&, int times) { return Provider::told(times < 3 ? Kind::unknown : Kind::succeeded); });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(provider_.calls_of("k"), 3u);
  EXPECT_EQ(attempts("k"), "call unknown, call unknown, call succeeded");
}

TEST_P(Answers, AnIdempotentEndpointIsAskedFirstAndThenSentTheKeyAgain) {
  declaration_.idempotent = true;
  declaration_.key_lifetime = 3600s;
  options_.looks_up = true;
  provider_.answer_with([](const Provider::Request& request, int times) {
    if (request.look_up) return Provider::told(Kind::still_unknown);
    return Provider::told(times == 1 ? Kind::unknown : Kind::succeeded);
  });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "call unknown, look_up still_unknown, call succeeded");
}

TEST_P(Answers, AKeyThatTheOtherSideHasForgottenIsNotSentAgain) {
  declaration_.idempotent = true;
  declaration_.key_lifetime = 3600s;
  stage("k");
  abandon("k");
  put("k", "first_attempt_at = " + from_now(-3600s));
  const auto dispatcher = start();
  await_state("k", "unknown");
  await("it waits for a person", [&] { return of("k", "due_at") == "none"; });
  let_another_pass();
  EXPECT_EQ(provider_.calls_of("k"), 0u);
}

TEST_P(Answers, TheBudgetOfAnIdempotentEndpointIsBounded) {
  declaration_.idempotent = true;
  declaration_.key_lifetime = 3600s;
  provider_.answer_with(Kind::unknown);
  const auto dispatcher = start();
  stage("k");
  await("it waits for a person", [&] { return of("k", "due_at") == "none" && state("k") == "unknown"; });
  EXPECT_EQ(provider_.calls_of("k"), 3u);
}

// "The same request is being worked on", say: the first attempt has done it, or will.
TEST_P(Answers, ARefusedRepeatLeavesTheFirstAttemptInDoubt) {
  declaration_.idempotent = true;
  declaration_.key_lifetime = 1h;
  provider_.answer_with([](const Provider::Request&, int times) {
    return Provider::told(times == 1 ? Kind::unknown : times == 2 ? Kind::failed : Kind::succeeded);
  });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(attempts("k"), "call unknown, call failed, call succeeded");
}

TEST_P(Answers, AMessageThatMayBeLostHasFailedWhenItsOutcomeIsUnknown) {
  declaration_.notification = NotificationClass::best_effort;
  provider_.answer_with(Kind::unknown);
  const auto dispatcher = start();
  stage("k");
  await_state("k", "failed");
  EXPECT_EQ(of("k", "code"), "best_effort_unknown");
  stage("dead");
  abandon("dead");
  await_state("dead", "failed");
  EXPECT_EQ(provider_.calls(), 1u);
}

TEST_P(Answers, AMessageThatMayComeTwiceIsSentAgain) {
  declaration_.notification = NotificationClass::campaign;
  provider_.answer_with(
      [](const Provider::Request&, int times) { return Provider::told(times == 1 ? Kind::unknown : Kind::succeeded); });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "succeeded");
  EXPECT_EQ(provider_.calls_of("k"), 2u);
}

TEST_P(Answers, WhatTheOtherSideSaysIsKeptThoughNoStoreCouldKeepIt) {
  provider_.answer_with([](const Provider::Request&, int) {
    return EndpointAnswer{.kind = Kind::failed, .external_ref = std::string("a\0\xff", 3), .why = "no\n\xff"};
  });
  const auto dispatcher = start();
  stage("k");
  await_state("k", "failed");
  EXPECT_EQ(of("k", "detail"), "no \xEF\xBF\xBD");
}

}  // namespace
}  // namespace onceward::dispatch
