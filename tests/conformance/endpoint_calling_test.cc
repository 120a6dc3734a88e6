// What start() takes, and what its answers say.
#include "tests/conformance/endpoint_suite.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using fixtures::Reply;

class Calling : public OnEveryEndpoint {};
ONCEWARD_ON_EVERY_ENDPOINT(Calling);

TEST_P(Calling, ADefiniteYesComesWithItsReference) {
  const std::string body = R"({ "amount" : 1.00, "name":"\u00e4" })";
  const Answers answers = ask(call(7, "k-1", body));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers.at(7).kind, Kind::succeeded) << answers.at(7).why;
  EXPECT_EQ(answers.at(7).external_ref, under_->reference_of("k-1"));
  ASSERT_EQ(under_->seen().size(), 1u);
  EXPECT_EQ(under_->seen()[0].key, "k-1");
  EXPECT_EQ(under_->seen()[0].body, body);
}

TEST_P(Calling, ADefiniteNoAndNotNowAreToldApart) {
  under_->reply("no", Reply::no);
  under_->reply("later", Reply::not_now);
  EXPECT_EQ(ask(call(1, "no")).at(1).kind, Kind::failed);
  const EndpointAnswer later = ask(call(2, "later")).at(2);
  EXPECT_EQ(later.kind, Kind::later);
  EXPECT_EQ(later.after, GetParam().capabilities.says_when ? std::optional(7000ms) : std::nullopt);
}

TEST_P(Calling, WhatBreaksOffIsUnknownAndIsNotSentTwice) {
  under_->reply("k", Reply::breaks_off);
  EXPECT_EQ(ask(call(1, "k")).at(1).kind, Kind::unknown);
  EXPECT_EQ(times_seen("k"), 1u);
  EXPECT_EQ(ask(call(2, "another")).at(2).kind, Kind::succeeded) << "and it goes on";
  EXPECT_EQ(times_seen("k"), 1u);
}

// Also on a connection that has served before.
TEST_P(Calling, WhatBreaksOffLaterIsNotSentTwiceEither) {
  for (std::uint64_t tag = 1; tag <= 5; ++tag) {
    EXPECT_EQ(ask(call(tag, fmt::format("before {}", tag))).at(tag).kind, Kind::succeeded);
  }
  under_->reply("k", Reply::breaks_off);
  EXPECT_EQ(ask(call(9, "k")).at(9).kind, Kind::unknown);
  EXPECT_EQ(times_seen("k"), 1u);
}

TEST_P(Calling, SilenceIsUnknownWhenTheLongestTimeIsOver) {
  const auto hasty = under_->open({.longest = 2s});  // enough for those that are answered
  EXPECT_GE(hasty->longest(), 2s);
  under_->reply("k", Reply::silence);
  const auto began = std::chrono::steady_clock::now();
  start(*hasty, call(1, "k"));
  EXPECT_EQ(collect(*hasty).at(1).kind, Kind::unknown);
  EXPECT_LT(std::chrono::steady_clock::now() - began, hasty->longest() + 5s);
  EXPECT_GT(hasty->room(), 0u);
  start(*hasty, call(2, "another"));
  EXPECT_EQ(collect(*hasty).at(2).kind, Kind::succeeded);
}

TEST_P(Calling, ASlowOneHoldsBackNoOther) {
  under_->reply("slow", Reply::silence);
  start(*endpoint_, call(1, "slow"));
  start(*endpoint_, call(2, "quick"));
  const Answers first = collect(*endpoint_, 1);
  EXPECT_TRUE(first.contains(2));
  EXPECT_EQ(endpoint_->under_way(), 1u);
}

TEST_P(Calling, EachOfManyIsAnsweredOnce) {
  const auto narrow = under_->open({.most_under_way = 5});
  Answers all;
  for (std::uint64_t next = 1; all.size() < 100;) {
    std::vector<std::string> keys;
    for (std::size_t room = narrow->room(); room > 0 && next <= 100; --room) keys.push_back(fmt::format("k{}", next++));
    std::vector<EndpointRequest> requests;
    for (const std::string& key : keys) requests.push_back(call(std::stoull(key.substr(1)), key));
    narrow->start(requests);
    EXPECT_LE(narrow->under_way(), 5u);
    for (auto& [tag, answer] : collect(*narrow, 1)) EXPECT_TRUE(all.emplace(tag, answer).second) << tag;
  }
  for (const auto& [tag, answer] : all) EXPECT_EQ(answer.kind, Kind::succeeded);
  EXPECT_EQ(under_->seen().size(), 100u);
}

TEST_P(Calling, RequestsAreBorrowedOnlyWhileTheyAreStarted) {
  {
    std::string key = "a key that is longer than any short string";
    std::string body = under_->body(key, std::string(100'000, 'x'));
    start(*endpoint_, {.tag = 1, .key = key, .body = body});
    std::ranges::fill(key, '?');
    std::ranges::fill(body, '?');
  }
  EXPECT_EQ(collect(*endpoint_).at(1).kind, Kind::succeeded);
  EXPECT_EQ(under_->seen().at(0).body, std::string(100'000, 'x'));
}

TEST_P(Calling, AnEndpointCanBeEndedWhileRequestsAreUnderWay) {
  under_->reply("k", Reply::silence);
  start(*endpoint_, call(1, "k"));
  fixtures::await("it is there", [&] {
    std::vector<EndpointAnswer> none;
    endpoint_->collect(none, 10ms);
    return times_seen("k") == 1;
  });
  endpoint_.reset();
}

class WaitingForAnswers : public OnEveryEndpoint {};
ONCEWARD_ON_EVERY_ENDPOINT(WaitingForAnswers);

TEST_P(WaitingForAnswers, IsEndedByTimeAndByWaking) {
  std::vector<EndpointAnswer> none;
  endpoint_->collect(none, 0ms);
  endpoint_->collect(none, 20ms);
  endpoint_->wake();
  const auto began = std::chrono::steady_clock::now();
  endpoint_->collect(none, fixtures::generous);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 30s) << "a wake that came before counts";
  EXPECT_TRUE(none.empty());
}

TEST_P(WaitingForAnswers, WithNothingUnderWayThereIsRoom) {
  EXPECT_EQ(endpoint_->under_way(), 0u);
  EXPECT_GT(endpoint_->room(), 0u);
  EXPECT_FALSE(endpoint_->describe().empty());
}

class LookingUp : public OnEveryEndpoint {};
ONCEWARD_ON_ENDPOINTS_THAT(LookingUp, looks_up);

TEST_P(LookingUp, SaysDoneNotDoneOrNothing) {
  ASSERT_TRUE(endpoint_->looks_up());
  under_->reply("missing", Reply::no);
  under_->reply("broken", Reply::breaks_off);
  under_->reply("garbled", Reply::garbage);
  const EndpointAnswer done = ask(look_up(1, "there")).at(1);
  EXPECT_EQ(done.kind, Kind::done);
  EXPECT_EQ(done.external_ref, under_->reference_of("there"));
  EXPECT_EQ(ask(look_up(2, "missing")).at(2).kind, Kind::not_done);
  EXPECT_EQ(ask(look_up(3, "broken")).at(3).kind, Kind::still_unknown);
  EXPECT_EQ(ask(look_up(4, "garbled")).at(4).kind, Kind::still_unknown);
  for (const auto& seen : under_->seen()) EXPECT_TRUE(seen.look_up) << seen.key;
}

TEST_P(LookingUp, ThatIsNotAnsweredSaysNothing) {
  const auto hasty = under_->open({.longest = 200ms});
  under_->reply("k", Reply::silence);
  start(*hasty, look_up(1, "k"));
  EXPECT_EQ(collect(*hasty).at(1).kind, Kind::still_unknown);
}

class Listing : public OnEveryEndpoint {};
ONCEWARD_ON_ENDPOINTS_THAT(Listing, lists);

TEST_P(Listing, NamesAllThatWasDone) {
  under_->reply("refused", Reply::no);
  for (const std::string key : {"a", "b", "refused"}) ask(call(1, key));
  const auto records = endpoint_->list(Timestamp{});
  ASSERT_TRUE(records);
  std::map<std::string, std::string> found;
  for (const EndpointRecord& record : *records) found[record.key] = record.external_ref;
  EXPECT_EQ(found,
            (std::map<std::string, std::string>{{"a", under_->reference_of("a")}, {"b", under_->reference_of("b")}}));
}

class EndpointsThatAreAway : public OnEveryEndpoint {};
ONCEWARD_ON_ENDPOINTS_THAT(EndpointsThatAreAway, remote);

TEST_P(EndpointsThatAreAway, WereSurelyNotSentAnything) {
  under_->go_away(true);
  EXPECT_EQ(ask(call(1, "k")).at(1).kind, Kind::not_sent);
  if (endpoint_->looks_up()) {
    EXPECT_EQ(ask(look_up(3, "k")).at(3).kind, Kind::not_sent) << "nobody was asked";
  }
  under_->go_away(false);
  EXPECT_EQ(times_seen("k"), 0u);
  EXPECT_EQ(ask(call(2, "k")).at(2).kind, Kind::succeeded);
}

}  // namespace
}  // namespace onceward
