// Commits that are not answered, and a store that goes away in the middle.
#include "tests/delivery/doubting_store.h"
#include "tests/ingress/suite.h"

namespace onceward {
namespace {

class DoubtAtTheFrontDoor : public FrontDoor {
 protected:
  // Of the reservation and of the effect, in this order; all that come later are answered.
  IngressAnswer ask_with(std::vector<Fate> fates) {
    std::size_t commits = 0;
    DoubtingStore doubting(*store_, [&](bool) { return commits < fates.size() ? fates[commits++] : Fate::answered; });
    return ask_at(doubting);
  }
  void expect_one_effect() {
    EXPECT_EQ(effects(), 1);
    EXPECT_EQ(rows(), 1);
    EXPECT_EQ(tally_.accepted, 1u);
    EXPECT_TRUE(ask().repeated);
    EXPECT_EQ(effects(), 1);
  }
};
ONCEWARD_ON_EVERY_STORE(DoubtAtTheFrontDoor);

TEST_P(DoubtAtTheFrontDoor, AboutAnEffectThatLandedIsAnsweredAsDone) {
  EXPECT_EQ(ask_with({Fate::answered, Fate::lands_unanswered}).status, 201u);
  expect_one_effect();
}

TEST_P(DoubtAtTheFrontDoor, AboutAnEffectThatWasLostRunsItAgain) {
  EXPECT_EQ(ask_with({Fate::answered, Fate::is_lost, Fate::is_lost}).status, 201u);
  expect_one_effect();
}

TEST_P(DoubtAtTheFrontDoor, AboutAReservationIsSettledByTakingItAgain) {
  EXPECT_EQ(ask_with({Fate::lands_unanswered, Fate::answered}).status, 201u);
  expect_one_effect();
}

TEST_P(DoubtAtTheFrontDoor, AboutAReservationThatWasLostMakesItAnew) {
  EXPECT_EQ(ask_with({Fate::is_lost, Fate::lands_unanswered, Fate::lands_unanswered}).status, 201u);
  expect_one_effect();
}

TEST_P(DoubtAtTheFrontDoor, ThatHasNoEndIsAnsweredWithLater) {
  const IngressAnswer answer = ask_with(std::vector<Fate>(100, Fate::is_lost));
  EXPECT_EQ(answer.status, 503u);
  EXPECT_EQ(code_in(answer), "store_unavailable");
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(ask().status, 201u);
}

// Answers some of its begins with an outage.
class LeavingStore final : public fixtures::ForwardingStore {
 public:
  using Here = std::function<bool(int begun)>;
  LeavingStore(Store& store, Here here) : ForwardingStore(store), here_(std::move(here)) {}

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    if (!here_(++begun_)) throw Fault(FaultCode::store_unavailable, Poisons::connection, "away, at a secret place");
    return store_.begin(consumer);
  }

 private:
  const Here here_;
  int begun_ = 0;
};

class OutageAtTheFrontDoor : public FrontDoor {
 protected:
  void expect_later(const IngressAnswer& answer) {
    EXPECT_EQ(answer.status, 503u);
    EXPECT_EQ(code_in(answer), "store_unavailable");
    EXPECT_GE(answer.retry_after, std::chrono::seconds(1));
    EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr("secret")));
    EXPECT_EQ(tally_.failed, 1u);
  }
};
ONCEWARD_ON_EVERY_STORE(OutageAtTheFrontDoor);

TEST_P(OutageAtTheFrontDoor, BeforeTheReservationLeavesNothing) {
  LeavingStore store(*store_, [](int) { return false; });
  expect_later(ask_at(store));
  EXPECT_EQ(rows(), 0);
}

TEST_P(OutageAtTheFrontDoor, ThatIsShortIsNotNoticed) {
  LeavingStore store(*store_, [](int begun) { return begun > 2; });
  EXPECT_EQ(ask_at(store).status, 201u);
}

TEST_P(OutageAtTheFrontDoor, AfterTheReservationLeavesItToItsLease) {
  LeavingStore store(*store_, [](int begun) { return begun == 1; });
  expect_later(ask_at(store));
  EXPECT_EQ(ask().status, 409u);
  let_pass("lease_until");
  EXPECT_EQ(ask().status, 201u);
  EXPECT_EQ(effects(), 1);
}

// Who may have reached another system before must be repeated, and cannot become another request.
TEST_P(OutageAtTheFrontDoor, OfAnotherSystemLeavesTheKeyToTheSameRequest) {
  const auto away = [](const IngressRequest&, Transaction&) -> IngressAnswer {
    throw Fault(FaultCode::source_unavailable, Poisons::connection, "the queue at a secret place is away");
  };
  expect_later(ask({}, away));
  EXPECT_EQ(ask({.body = "other"}).status, 422u);
  EXPECT_EQ(ask().status, 201u);
  EXPECT_EQ(effects(), 1);
}

// The answer to the commit was lost, and nobody could be asked.
TEST_P(OutageAtTheFrontDoor, AfterACommitInDoubtSaysSoAndTheNextTryFindsTheAnswer) {
  int commits = 0;
  DoubtingStore doubting(*store_, [&](bool) { return ++commits == 2 ? Fate::lands_unanswered : Fate::answered; });
  LeavingStore store(doubting, [&](int) { return commits < 2; });
  expect_later(ask_at(store));
  EXPECT_TRUE(ask().repeated);
  EXPECT_EQ(effects(), 1);
}

// "The key is free" would not be true.
TEST_P(OutageAtTheFrontDoor, AfterAHandlerThatFailedSaysLaterAndLeavesItToItsLease) {
  const auto own_failure = [](const IngressRequest&, Transaction&) { return IngressAnswer{.status = 502}; };
  for (const IngressHandler& fails :
       {IngressHandler([](auto&, auto&) -> IngressAnswer { throw 7; }), IngressHandler(own_failure)}) {
    LeavingStore store(*store_, [](int begun) { return begun < 3; });
    const IngressAnswer answer = ask_at(store, {}, fails);
    EXPECT_EQ(answer.status, 503u);
    EXPECT_EQ(code_in(answer), "store_unavailable");
    EXPECT_EQ(ask().status, 409u);
    let_pass("lease_until");
  }
  EXPECT_EQ(ask().status, 201u);
  EXPECT_EQ(effects(), 1);
}

TEST_P(OutageAtTheFrontDoor, ThatPoisonsTheProcessIsThrownWhereverItIsMet) {
  for (const int at : {1, 2, 3}) {
    int begun = 0;
    LeavingStore store(*store_, [&](int) {
      if (++begun == at) throw Fault(FaultCode::store_unavailable, Poisons::process, "it cannot go on");
      return true;
    });
    const auto fails = [](const IngressRequest&, Transaction&) -> IngressAnswer { throw 7; };
    EXPECT_THROW(ask_at(store, {.key = std::to_string(at)}, fails), Fault) << at;
  }
}

TEST_P(OutageAtTheFrontDoor, ALostRaceIsRunAgain) {
  int runs = 0;
  const auto loses = [&](const IngressRequest& request, Transaction& transaction) -> IngressAnswer {
    if (++runs < 3) throw Fault(FaultCode::lost_race, Poisons::transaction, "deadlock");
    return insert_effect_of(request, transaction);
  };
  EXPECT_EQ(ask({}, loses).status, 201u);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(effects(), 1);
}

}  // namespace
}  // namespace onceward
