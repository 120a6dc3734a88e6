// The contract of onceward/ingress.h, line by line.
#include "tests/ingress/suite.h"

namespace onceward {
namespace {

using testing::HasSubstr;
using testing::Not;

ONCEWARD_ON_EVERY_STORE(FrontDoor);

TEST_P(FrontDoor, GivesTheStoredAnswerAgainAndHasTheEffectOnce) {
  const IngressAnswer first = ask();
  EXPECT_EQ(first.status, 201u);
  EXPECT_FALSE(first.repeated);
  for (int i = 0; i < 3; ++i) {
    const IngressAnswer again = ask();
    EXPECT_EQ(again.status, first.status);
    EXPECT_EQ(again.content_type, first.content_type);
    EXPECT_EQ(again.body, first.body);
    EXPECT_TRUE(again.repeated);
  }
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(tally_.accepted, 1u);
  EXPECT_EQ(tally_.repeated, 3u);
}

TEST_P(FrontDoor, KeepsAnswersByteForByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (const std::string& body : {bytes, std::string(), std::string("\0", 1), std::string(100'000, '\xff')}) {
    const Asked asked{.key = fmt::format("size {}", body.size())};
    const auto answer = [&](const IngressRequest&, Transaction&) {
      return IngressAnswer{.status = 404, .content_type = "application/octet-stream", .body = body};
    };
    EXPECT_EQ(ask(asked, answer).body, body);
    const IngressAnswer again = ask(asked, answer);
    EXPECT_TRUE(again.repeated);
    EXPECT_EQ(again.status, 404u);
    EXPECT_EQ(again.content_type, "application/octet-stream");
    EXPECT_EQ(again.body, body);
  }
}

TEST_P(FrontDoor, WantsAKeyThatCanBeKept) {
  EXPECT_EQ(code_in(ask({.key = ""})), "key_missing");
  for (const std::string& key : {std::string(256, 'k'), std::string("a\0b", 3), std::string("a\nb"),
                                 std::string("\xff"), std::string("\xc3\xa4")}) {
    const IngressAnswer answer = ask({.key = key});
    EXPECT_EQ(answer.status, 400u);
    EXPECT_EQ(code_in(answer), "key_malformed");
  }
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(tally_.refused, 6u);
  EXPECT_EQ(ask({.key = std::string(255, 'k')}).status, 201u);
}

TEST_P(FrontDoor, RefusesWhatNoStoreCouldKeep) {
  for (const Asked& asked : {Asked{.principal = std::string("a\0b", 3)}, Asked{.operation = "\xff"},
                             Asked{.principal = std::string(256, 'p')}, Asked{.content_type = std::string(256, 'c')}}) {
    const IngressAnswer answer = ask(asked);
    EXPECT_EQ(answer.status, 400u);
    EXPECT_EQ(code_in(answer), "request_malformed");
  }
  EXPECT_EQ(rows(), 0);
}

TEST_P(FrontDoor, RefusesABodyThatIsTooLarge) {
  options_.most_body_bytes = 10;
  EXPECT_EQ(ask({.body = "0123456789"}).status, 201u);
  const IngressAnswer answer = ask({.key = "k2", .body = "0123456789a"});
  EXPECT_EQ(answer.status, 413u);
  EXPECT_EQ(code_in(answer), "body_too_large");
  EXPECT_EQ(rows(), 1);
}

TEST_P(FrontDoor, TellsOneWhoAsksMeanwhileWhenToComeAgain) {
  const auto other = under_->open();
  const auto asked_meanwhile = [&](const IngressRequest& request, Transaction& transaction) {
    const IngressAnswer meanwhile = ask_at(*other);
    EXPECT_EQ(meanwhile.status, 409u);
    EXPECT_EQ(code_in(meanwhile), "request_in_flight");
    EXPECT_EQ(meanwhile.retry_after, std::chrono::seconds(2)) << "not the lease: that is what a crash costs";
    EXPECT_EQ(ask_at(*other, {.body = "other"}).status, 422u);
    return insert_effect_of(request, transaction);
  };
  EXPECT_EQ(ask({}, asked_meanwhile).status, 201u);
  EXPECT_EQ(effects(), 1);
}

// The one that died left its reservation.
class Abandoned : public FrontDoor {
 protected:
  void SetUp() override {
    EXPECT_EQ(ask().status, 201u);
    reader().run("DELETE FROM effect");
    const bool typed = GetParam().capabilities.typed_columns;
    reader().run("UPDATE " + under_->table("ingress") + " SET status = 0, body = NULL, lease_until = " +
                 (typed ? "now() + interval '20 s'" : "CAST(unixepoch('subsec') * 1000000 AS INTEGER) + 20000000"));
  }
};
ONCEWARD_ON_EVERY_STORE(Abandoned);

TEST_P(Abandoned, RequestsAreLeftToTheirLeaseAndThenTakenOver) {
  const IngressAnswer early = ask();
  EXPECT_EQ(early.status, 409u);
  EXPECT_EQ(code_in(early), "request_in_flight");
  EXPECT_EQ(early.retry_after, std::chrono::seconds(2));
  EXPECT_EQ(tally_.in_flight, 1u);
  let_pass("lease_until");
  EXPECT_EQ(ask().status, 201u);
  EXPECT_TRUE(ask().repeated);
  EXPECT_EQ(effects(), 1);
}

TEST_P(Abandoned, KeysAreNotGivenToAnotherRequest) {
  EXPECT_EQ(ask({.body = "other"}).status, 422u);
  let_pass("lease_until");
  EXPECT_EQ(ask({.body = "other"}).status, 422u);
  EXPECT_EQ(effects(), 0);
  let_pass("expires_at");
  EXPECT_EQ(ask({.body = "other"}).status, 201u);
}

TEST_P(Abandoned, RequestsAreForgottenWhenTheyExpireAndNotWhileTheyAreInFlight) {
  let_pass("expires_at");
  Ingress ingress(*store_, tally_);
  EXPECT_EQ(ingress.forget_expired(), 0);
  EXPECT_EQ(ask({.body = "other"}).status, 422u);
  let_pass("lease_until");
  EXPECT_EQ(ingress.forget_expired(), 1);
  EXPECT_EQ(rows(), 0);
}

TEST_P(FrontDoor, SaysNothingOfTheEarlierRequestToOneWhoUsesItsKey) {
  const Asked first{.body = "the secret of the first", .principal = "shop", .operation = "POST /captures"};
  EXPECT_EQ(ask(first).status, 201u);
  const Asked other_body{.body = "other"};
  const Asked other_type{.body = first.body, .content_type = "text/plain"};
  std::string said;
  for (const Asked& other : {other_body, other_type}) {
    const IngressAnswer answer = ask(other);
    EXPECT_EQ(answer.status, 422u);
    EXPECT_EQ(code_in(answer), "key_reused");
    EXPECT_FALSE(answer.repeated);
    for (const char* leak : {"secret", "done", "201", "k1", "shop", "captures"}) {
      EXPECT_THAT(answer.body, Not(HasSubstr(leak))) << leak;
    }
    if (!said.empty()) EXPECT_EQ(answer.body, said);
    said = answer.body;
  }
  EXPECT_EQ(tally_.mismatched, 2u);
  EXPECT_EQ(effects(), 1);
  EXPECT_TRUE(ask(first).repeated);
}

// The next length in the digest says where a field ends.
TEST_P(FrontDoor, TakesAKeyOfAnotherPrincipalOrOperationForAnother) {
  EXPECT_EQ(ask({}).status, 201u);
  EXPECT_EQ(ask({.body = "b", .principal = "bank"}).status, 201u);
  EXPECT_EQ(ask({.body = "c", .operation = "POST /refunds"}).status, 201u);
  EXPECT_EQ(ask({.key = "1", .body = "d", .principal = "shop", .operation = "POST /capturesk"}).status, 201u);
  EXPECT_EQ(effects(), 4);
  EXPECT_TRUE(ask({}).repeated);
}

TEST_P(FrontDoor, LeavesNothingOfAHandlerThatThrows) {
  const auto throws = [](const IngressRequest& request, Transaction& transaction) -> IngressAnswer {
    insert_effect_of(request, transaction);
    throw std::runtime_error("the secret reason");
  };
  const IngressAnswer answer = ask({}, throws);
  EXPECT_EQ(answer.status, 500u);
  EXPECT_EQ(code_in(answer), "handler_failed");
  EXPECT_THAT(answer.body, Not(HasSubstr("secret")));
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(ask({.body = "free for any"}).status, 201u);
  EXPECT_EQ(ask({.key = "k2"}, [](auto&, auto&) -> IngressAnswer { throw 7; }).status, 500u);
  EXPECT_EQ(tally_.failed, 2u);
}

TEST_P(FrontDoor, LeavesNothingOfAHandlerThatAnswersThatItFailed) {
  const auto fails = [](const IngressRequest& request, Transaction& transaction) {
    insert_effect_of(request, transaction);
    return IngressAnswer{.status = 502, .content_type = "text/plain", .body = "no"};
  };
  const IngressAnswer answer = ask({}, fails);
  EXPECT_EQ(answer.status, 502u);
  EXPECT_EQ(answer.body, "no");
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(ask().status, 201u);
  EXPECT_EQ(effects(), 1);
}

TEST_P(FrontDoor, KeepsNoRefusalThatIsNotToBeKept) {
  const auto refuses = [](const IngressRequest& request, Transaction& transaction) {
    insert_effect_of(request, transaction);
    return IngressAnswer{.status = 404, .body = "no", .keep = false};
  };
  for (int i = 0; i < 2; ++i) {
    const IngressAnswer answer = ask({}, refuses);
    EXPECT_EQ(answer.status, 404u);
    EXPECT_EQ(answer.body, "no");
    EXPECT_FALSE(answer.repeated);
  }
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(tally_.refused, 2u);
  EXPECT_EQ(ask({.body = "free for any"}).status, 201u);
}

TEST_P(FrontDoor, LeavesNothingOfAStatementThatFails) {
  const auto writes_badly = [](const IngressRequest& request, Transaction& transaction) {
    insert_effect_of(request, transaction);
    transaction.execute("INSERT INTO no_such_table VALUES (1)");
    return IngressAnswer{.status = 200};
  };
  EXPECT_EQ(code_in(ask({}, writes_badly)), "handler_failed");
  const auto swallows = [](const IngressRequest& request, Transaction& transaction) {
    insert_effect_of(request, transaction);
    try {
      transaction.query("SELECT * FROM no_such_table");
    } catch (const Fault&) {
    }
    return IngressAnswer{.status = 200};
  };
  EXPECT_EQ(code_in(ask({}, swallows)), "handler_failed");
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(ask().status, 201u);
}

TEST_P(FrontDoor, LeavesNothingOfAnAnswerThatCannotBeKept) {
  options_.most_answer_bytes = 10;
  const IngressAnswer unkept[] = {{.status = 200, .body = std::string(11, 'a')},
                                  {.status = 0},
                                  {.status = 100},
                                  {.status = 600},
                                  {.status = 200, .content_type = "text/plain\r\nX-Other: 1"},
                                  {.status = 502, .content_type = "text/plain\r\nX-Other: 1"},
                                  {.status = 502, .body = std::string(11, 'a')}};
  for (const IngressAnswer& answer : unkept) {
    const auto answers = [&](const IngressRequest& request, Transaction& transaction) {
      insert_effect_of(request, transaction);
      return answer;
    };
    const IngressAnswer got = ask({}, answers);
    EXPECT_EQ(got.status, 500u);
    EXPECT_EQ(code_in(got), "answer_refused");
  }
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(rows(), 0);
  EXPECT_EQ(ask({}, [](auto&, auto&) { return IngressAnswer{.status = 200, .body = std::string(10, 'a')}; }).status,
            200u);
}

TEST_P(FrontDoor, CommitsWhatTheHandlerHasStagedWithItsAnswer) {
  const auto stages = [](const IngressRequest& request, Transaction& transaction) {
    transaction.stage(Outgoing{.type = "asked", .key = request.key, .payload = request.body});
    transaction.stage(Call{"gateway", request.key, request.body});
    return IngressAnswer{.status = 202};
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask({}, stages).status, 202u);
  EXPECT_EQ(under_->rows_in("outbox"), 1);
  EXPECT_EQ(under_->rows_in("ledger"), 1);
}

TEST_P(FrontDoor, ForgetsAnAnswerWhenItExpiresInBoundedSteps) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask({.key = std::to_string(i)}).status, 201u);
  Ingress ingress(*store_, tally_);
  EXPECT_EQ(ingress.forget_expired(), 0);
  let_pass("expires_at");
  EXPECT_EQ(ask({.key = "4", .body = "anew"}).status, 201u) << "an answer that has expired stands in nobody's way";
  EXPECT_EQ(ingress.forget_expired(3), 3);
  EXPECT_EQ(ingress.forget_expired(3), 1);
  EXPECT_EQ(ingress.forget_expired(3), 0);
  EXPECT_EQ(rows(), 1);
  EXPECT_TRUE(ask({.key = "4", .body = "anew"}).repeated);
}

TEST_P(FrontDoor, RefusesOptionsThatCannotHold) {
  EXPECT_THROW(Ingress(*store_, tally_, {.lease = std::chrono::milliseconds(999)}), std::invalid_argument);
  EXPECT_THROW(Ingress(*store_, tally_, {.expiry = std::chrono::hours(0)}), std::invalid_argument);
}

// On stores where somebody else may ask while a request is carried out.
class Meanwhile : public FrontDoor {
 protected:
  std::unique_ptr<Store> other_ = under_->open();
};
INSTANTIATE_TEST_SUITE_P(Store, Meanwhile,
                         testing::ValuesIn(fixtures::backends_that(&fixtures::Capabilities::concurrent_units)),
                         backend_name);

TEST_P(Meanwhile, ARequestThatWasTakenOverCanNoLongerCommit) {
  const auto too_slow = [&](const IngressRequest& request, Transaction& transaction) {
    transaction.execute_counted("INSERT INTO effect (message) VALUES ('too slow')");
    let_pass("lease_until");
    EXPECT_EQ(ask_at(*other_).status, 201u);
    return insert_effect_of(request, transaction);
  };
  const IngressAnswer fenced = ask({}, too_slow);
  EXPECT_EQ(fenced.status, 409u);
  EXPECT_EQ(code_in(fenced), "request_in_flight");
  EXPECT_EQ(fenced.retry_after, std::chrono::seconds(1));
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(under_->effects("message = 'too slow'"), 0);
  EXPECT_TRUE(ask().repeated);
}

// Somebody else has it, and still works.
TEST_P(Meanwhile, ARequestThatWasTakenOverNeitherCommitsNorSetsTheKeyFree) {
  for (const bool throws : {false, true}) {
    const Asked asked{.key = throws ? "throws" : "commits"};
    const auto loses_it = [&](const IngressRequest& request, Transaction& transaction) {
      reader().run("UPDATE " + under_->table("ingress") + " SET owner = 'another'");
      if (throws) throw std::runtime_error("late");
      return insert_effect_of(request, transaction);
    };
    EXPECT_EQ(ask(asked, loses_it).status, throws ? 500u : 409u);
    EXPECT_EQ(effects(), 0);
    EXPECT_EQ(ask(asked).status, 409u);
  }
}

}  // namespace
}  // namespace onceward
