#include "src/dispatch/policy.h"

#include <gtest/gtest.h>

namespace onceward::dispatch {
namespace {

using namespace std::chrono_literals;
using Kind = EndpointAnswer::Kind;
using Start = Step::Start;

class Policies : public testing::Test {
 protected:
  Policies() {
    declaration_.lease = 10s;
    declaration_.retry = {.attempts = 3, .first_delay = 100ms, .longest_delay = 100ms};
    LookUpDeclaration& look_up = declaration_.look_up.emplace();
    look_up.settle = 30s;
    look_up.every = 5s;
    look_up.attempts = 2;
  }
  Policy policy(bool looks_up = false) const { return {declaration_, looks_up, 2s, "us"}; }
  void make_idempotent() {
    declaration_.idempotent = true;
    declaration_.key_lifetime = 3600s;
  }
  static Standing attempting(int attempts = 1) {
    return {.number = 7,
            .state = CallState::attempting,
            .attempts = attempts,
            .last_attempt = attempts,
            .last_call = attempts,
            .owner = "us",
            .since_first = 1s};
  }
  static Standing unknown(int attempts = 1) {
    Standing standing = attempting(attempts);
    standing.state = CallState::unknown;
    standing.owner = "";
    standing.since_end = 1s;
    return standing;
  }
  static Asked call_of(const Standing& standing) { return {.number = 7, .attempt = standing.last_call}; }
  Change answered(const Standing& standing, Kind kind, bool looks_up = false) const {
    const auto change = policy(looks_up).answered(standing, call_of(standing), {.kind = kind});
    EXPECT_TRUE(change);
    return change.value_or(Change{});
  }
  Change looked_up(Standing standing, Kind kind, bool settled) const {
    standing.owner = "us";
    const Asked asked{.number = 7, .attempt = standing.last_attempt, .look_up = true, .settled = settled};
    return policy(true).answered(standing, asked, {.kind = kind}).value();
  }

  EndpointDeclaration declaration_;
};

TEST_F(Policies, DefiniteAnswersEndACall) {
  for (const auto& [kind, state] :
       {std::pair(Kind::succeeded, CallState::succeeded), std::pair(Kind::failed, CallState::failed)}) {
    const Change change = answered(attempting(), kind);
    EXPECT_EQ(change.state, state);
    EXPECT_EQ(change.due, std::nullopt);
    EXPECT_EQ(change.owner, "");
  }
}

TEST_F(Policies, WhatWasNotDoneGoesBackToWhereItCameFrom) {
  EXPECT_EQ(answered(attempting(), Kind::later).state, CallState::planned);
  EXPECT_EQ(answered(attempting(3), Kind::later).state, CallState::failed);
  EXPECT_EQ(answered(attempting(3), Kind::later).code, "attempts_exhausted");
  EXPECT_EQ(answered(attempting(3), Kind::not_sent).state, CallState::planned);
  EXPECT_EQ(answered(attempting(3), Kind::not_sent).attempts, 2);
  Standing approved = attempting();
  approved.approval_left = 1h;
  EXPECT_EQ(answered(approved, Kind::later).state, CallState::approved);
  EXPECT_EQ(answered(approved, Kind::not_sent).state, CallState::approved);
}

TEST_F(Policies, TheOtherSideIsHeardWhenItSaysWhenToComeAgainUpToADay) {
  const Standing standing = attempting();
  for (const auto& [asked, heard] :
       {std::pair(5000ms, 5000ms), std::pair<std::chrono::milliseconds, std::chrono::milliseconds>(999h, 24h)}) {
    const auto change = policy().answered(standing, call_of(standing), {.kind = Kind::later, .after = asked});
    EXPECT_EQ(change->due, heard);
  }
}

TEST_F(Policies, AnUnknownOutcomeIsAPersonsUnlessSomebodyCanBeAsked) {
  EXPECT_EQ(answered(attempting(), Kind::unknown).due, std::nullopt);
  EXPECT_EQ(answered(attempting(), Kind::unknown, true).due, 0ms);
  EXPECT_EQ(policy().next(unknown()).start, Start::nothing);
  EXPECT_EQ(policy(true).next(unknown()).start, Start::look_up);
  Standing asked = unknown();
  asked.look_ups = 2;
  EXPECT_EQ(policy(true).next(asked).start, Start::nothing);
  EXPECT_EQ(policy(true).next(asked).change.code, "look_ups_exhausted");
}

TEST_F(Policies, OnlyAnIdempotentEndpointWithALivingKeyIsSentItAgain) {
  make_idempotent();
  EXPECT_EQ(policy().next(unknown()).start, Start::call);
  EXPECT_EQ(policy().next(unknown(3)).start, Start::nothing);
  EXPECT_EQ(policy().next(unknown(3)).change.code, "attempts_exhausted");
  Standing old = unknown();
  old.since_first = 3599s;
  EXPECT_EQ(policy().next(old).start, Start::nothing) << "the call itself may take until after that";
  EXPECT_EQ(policy().next(old).change.code, "key_expired");
  old.since_first = 3597s;
  const Step last = policy().next(old);
  EXPECT_EQ(last.start, Start::call);
  EXPECT_EQ(last.within, 1s);
  Standing approved = unknown();
  approved.approval_left = -1s;
  EXPECT_EQ(policy().next(approved).change.code, "approval_expired");
}

TEST_F(Policies, AnIdempotentEndpointIsAskedBeforeItIsSentTheKeyAgain) {
  make_idempotent();
  Standing standing = unknown();
  EXPECT_EQ(policy(true).next(standing).start, Start::look_up);
  standing.code = looked_up(standing, Kind::still_unknown, true).code;
  EXPECT_EQ(policy(true).next(standing).start, Start::call);
}

// Nothing came of the second attempt; the first may have done it all the same.
TEST_F(Policies, ASecondAttemptThatCameToNothingLeavesTheFirstUnknown) {
  make_idempotent();
  Standing again = attempting(2);
  again.code = policy().next(unknown()).change.code;
  for (const Kind kind : {Kind::later, Kind::not_sent, Kind::failed}) {
    EXPECT_EQ(answered(again, kind).state, CallState::unknown);
    EXPECT_NE(answered(again, kind).due, std::nullopt);
  }
  EXPECT_EQ(answered(again, Kind::failed).code, "refused_again");
  EXPECT_EQ(policy().given_back(again).state, CallState::unknown);
  Standing last = again;
  last.attempts = 3;
  EXPECT_EQ(answered(last, Kind::later).state, CallState::unknown);
  EXPECT_EQ(answered(last, Kind::later).due, std::nullopt);
  Standing expired = unknown(2);
  for (const Kind kind : {Kind::later, Kind::not_sent, Kind::failed}) {
    EXPECT_FALSE(policy().answered(expired, call_of(expired), {.kind = kind}));
  }
}

TEST_F(Policies, AnOutageUsesUpNoLookUps) {
  Standing standing = unknown();
  standing.look_ups = 2;  // all there are
  for (const Kind kind : {Kind::not_sent, Kind::later}) {
    const Change change = looked_up(standing, kind, true);
    EXPECT_EQ(change.state, CallState::unknown);
    EXPECT_EQ(change.look_ups, 1);
    EXPECT_EQ(change.due, 5s);
  }
  EXPECT_EQ(looked_up(standing, Kind::still_unknown, true).due, std::nullopt);
  standing.code = "not_sent";
  standing.look_ups = 1;
  make_idempotent();
  EXPECT_EQ(policy(true).next(standing).start, Start::look_up) << "the other side is asked first, still";
}

TEST_F(Policies, NotDoneIsBelievedOnceItHasSettled) {
  Standing standing = unknown();
  standing.look_ups = 1;
  EXPECT_FALSE(policy(true).next(standing).settled);
  const Change early = looked_up(standing, Kind::not_done, false);
  EXPECT_EQ(early.state, CallState::unknown);
  EXPECT_EQ(early.due, 29s);
  EXPECT_EQ(early.look_ups, 0);
  standing.since_end = 30s;
  EXPECT_TRUE(policy(true).next(standing).settled);
  EXPECT_EQ(looked_up(standing, Kind::not_done, true).state, CallState::planned);
  EXPECT_EQ(looked_up(unknown(3), Kind::not_done, true).state, CallState::failed);
  EXPECT_EQ(looked_up(standing, Kind::done, false).state, CallState::succeeded);
}

TEST_F(Policies, ApprovalIsAskedForAndEnds) {
  Standing planned{.number = 7};
  EXPECT_EQ(policy().next(planned).start, Start::call);
  declaration_.approval = Approval::required;
  EXPECT_EQ(policy().next(planned).change.state, CallState::waiting);
  Standing approved{.number = 7, .state = CallState::approved, .approval_left = 3s};
  EXPECT_EQ(policy().next(approved).start, Start::call);
  EXPECT_EQ(policy().next(approved).within, 3s);
  approved.approval_left = 0s;
  EXPECT_EQ(policy().next(approved).change.state, CallState::waiting);
  EXPECT_EQ(policy().next(approved).change.code, "approval_expired");
}

TEST_F(Policies, NotificationsHaveTheirOwnAnswerToWhatIsUnknown) {
  declaration_.notification = NotificationClass::best_effort;
  EXPECT_EQ(answered(attempting(), Kind::unknown).state, CallState::failed);
  EXPECT_EQ(answered(attempting(), Kind::unknown).code, "best_effort_unknown");
  EXPECT_EQ(policy().next(attempting()).change.state, CallState::failed);
  declaration_.notification = NotificationClass::campaign;
  EXPECT_EQ(policy().next(unknown()).start, Start::call);
  EXPECT_EQ(policy().next(unknown(3)).start, Start::nothing);
}

TEST_F(Policies, OnlyTheVeryAttemptThatIsInDoubtIsAnsweredLate) {
  const Standing theirs = unknown();
  EXPECT_EQ(answered(theirs, Kind::succeeded).state, CallState::succeeded);
  EXPECT_EQ(answered(theirs, Kind::failed).state, CallState::failed);
  EXPECT_FALSE(policy().answered(theirs, call_of(theirs), {.kind = Kind::unknown}));
  EXPECT_FALSE(policy().answered(theirs, {.number = 7, .attempt = 0}, {.kind = Kind::succeeded}));
  Standing planned = unknown();
  planned.state = CallState::planned;
  EXPECT_EQ(answered(planned, Kind::succeeded).state, CallState::succeeded)
      << "a yes is true whatever was thought since";
  EXPECT_FALSE(policy().answered(planned, call_of(planned), {.kind = Kind::failed}));
  for (const CallState open : {CallState::planned, CallState::approved, CallState::waiting}) {
    planned.state = open;
    const Asked look_up{.number = 7, .attempt = 1, .look_up = true};
    const auto found = policy(true).answered(planned, look_up, {.kind = Kind::done});
    ASSERT_TRUE(found) << "of a look-up, too";
    EXPECT_EQ(found->state, CallState::succeeded);
    EXPECT_EQ(found->before, open);
    EXPECT_FALSE(policy(true).answered(planned, look_up, {.kind = Kind::not_done}));
  }
  for (const CallState ended : {CallState::succeeded, CallState::failed, CallState::refused, CallState::cancelled}) {
    Standing standing = unknown();
    standing.state = ended;
    EXPECT_FALSE(policy().answered(standing, call_of(standing), {.kind = Kind::succeeded}));
  }
}

TEST_F(Policies, AReferenceIsKeptWhole) {
  const Standing standing = attempting();
  const auto kept = [&](std::size_t bytes) {
    EndpointAnswer answer{.kind = Kind::succeeded, .external_ref = std::string(bytes, 'r')};
    return policy().answered(standing, call_of(standing), answer)->external_ref.size();
  };
  EXPECT_EQ(kept(1024), 1024u);
  EXPECT_EQ(kept(1025), 0u) << "a part of it is another one";
}

TEST_F(Policies, WhatWasMarkedAndNeverStartedIsAsIfItHadNotBeenMarked) {
  const Step step = policy().next({.number = 7, .attempts = 1});
  Standing marked = attempting(step.change.attempts);
  const Change back = policy().given_back(marked);
  EXPECT_EQ(back.state, CallState::planned);
  EXPECT_EQ(back.attempts, 1);
  EXPECT_GT(back.due, 0ms) << "a store that is too slow for its leases is not asked without a pause";
  Standing looked_up = unknown();
  looked_up.look_ups = 2;
  EXPECT_EQ(policy(true).given_back(looked_up).look_ups, 1);
}

}  // namespace
}  // namespace onceward::dispatch
