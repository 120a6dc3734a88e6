// What becomes of messages when the connection is lost, or the broker does not answer.
#include "tests/conformance/publisher_suite.h"
#include "tests/faults/proxy.h"

namespace onceward {
namespace {

using faults::Proxy;
using faults::Rule;

class Losing : public OnEveryPublisher {
 protected:
  std::unique_ptr<Publisher> open(std::chrono::milliseconds confirm_deadline = generous) {
    return under_->open({.confirm_deadline = confirm_deadline, .through_proxy = true});
  }
  // A message that the proxy knows.
  Publication marked(std::uint64_t tag) const { return publication(tag, destination_, R"("the mark")"); }

  const bool resends_ = GetParam().capabilities.resends;
  const Kind unanswered_ = resends_ ? Kind::confirmed : Kind::in_doubt;
  Proxy& proxy_ = *under_->proxy();
};
ONCEWARD_ON_PUBLISHERS_THAT(Losing, remote);

TEST_P(Losing, AnswerThatWasLostIsInDoubtOrAskedForAgainAndTheNextIsConfirmed) {
  const auto publisher = open();
  proxy_.set({"the mark", Rule::Act::cut_after, 1});
  const Publication doubtful = marked(1);
  publisher->publish({&doubtful, 1});
  EXPECT_EQ(kinds(collect(*publisher)), (std::map<std::uint64_t, Kind>{{1, unanswered_}}));
  EXPECT_EQ(proxy_.fired(), 1);
  publisher->publish({&doubtful, 1});
  EXPECT_EQ(kinds(collect(*publisher)), (std::map<std::uint64_t, Kind>{{1, Kind::confirmed}}));
  EXPECT_EQ(publisher->counters().reconnects, 1u);
  EXPECT_EQ(received(2), (std::vector<std::string>{"1", "1"})) << "the first had come too";
  EXPECT_TRUE(nothing_more()) << "what was sent again is there once";
}

TEST_P(Losing, MessageThatNeverArrivedIsNotConfirmedUntilItHas) {
  const auto publisher = open();
  proxy_.set({"the mark", Rule::Act::cut_before, 1});
  const Publication lost = marked(1);
  publisher->publish({&lost, 1});
  const Receipts receipts = collect(*publisher);
  ASSERT_EQ(receipts.size(), 1u);
  EXPECT_NE(receipts[0].kind, Kind::refused);
  EXPECT_EQ(receipts[0].kind == Kind::confirmed, resends_);
  if (resends_) EXPECT_EQ(received(1), std::vector<std::string>{"1"});
  EXPECT_TRUE(nothing_more());
}

TEST_P(Losing, WhatHasNoAnswerByItsDeadlineIsInDoubt) {
  const auto publisher = open(1s);
  proxy_.set({"the mark", Rule::Act::stall, 1});
  const Publications publications{marked(1), marked(2)};
  const auto begin = std::chrono::steady_clock::now();
  publisher->publish(publications);
  const Receipts receipts = collect(*publisher);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s) << "before the connection is found to be dead";
  EXPECT_EQ(kinds(receipts), (std::map<std::uint64_t, Kind>{{1, Kind::in_doubt}, {2, Kind::in_doubt}}));
  EXPECT_EQ(publisher->counters().in_doubt, 2u);
}

TEST_P(Losing, WaitForReceiptsEndsWhenItWasSaidTo) {
  const auto publisher = open();
  proxy_.set({"the mark", Rule::Act::stall, 1});
  const Publication held = marked(1);
  publisher->publish({&held, 1});
  Receipts receipts;
  const auto begin = std::chrono::steady_clock::now();
  publisher->collect(receipts, 200ms);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 200ms);
  EXPECT_TRUE(receipts.empty());
  EXPECT_EQ(publisher->outstanding(), 1u);
}

TEST_P(Losing, WhileTheBrokerIsAwayNothingIsTaken) {
  const auto publisher = open(2s);
  proxy_.refuse(true);
  proxy_.cut_all();
  const Publications publications = numbered(1, 2);
  await("the loss is known", [&] {
    try {
      publisher->publish(publications);
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::publisher_unavailable);
      return true;
    }
    collect(*publisher);  // in doubt: it was not known yet
    return false;
  });
  EXPECT_EQ(publisher->outstanding(), 0u);
  EXPECT_GT(publisher->room(), 0u);
  proxy_.refuse(false);
  await("it is back", [&] {
    try {
      publisher->publish(publications);
      return true;
    } catch (const Fault& fault) {
      return fault.fault() != FaultCode::publisher_unavailable;
    }
  });
  EXPECT_EQ(count(collect(*publisher), Kind::confirmed), 2u);
}

TEST_P(Losing, CutInTheMiddleOfManyLosesNone) {
  const auto publisher = open();
  std::set<std::uint64_t> confirmed;
  Publications publications = numbered(1, 400);
  publications.insert(publications.begin() + 200, marked(1000));
  proxy_.set({"the mark", Rule::Act::cut_after, 1});
  publisher->publish(publications);
  const Receipts receipts = collect(*publisher);
  EXPECT_EQ(kinds(receipts).size(), 401u) << "each has its receipt";
  for (const Receipt& receipt : receipts) {
    EXPECT_NE(receipt.kind, Kind::refused);
    if (receipt.kind == Kind::confirmed) confirmed.insert(receipt.tag);
  }
  EXPECT_EQ(confirmed.size() == 401, resends_);
  // All that is not confirmed is published again.
  std::erase_if(publications, [&](const Publication& one) { return confirmed.contains(one.tag); });
  publisher->publish(publications);
  EXPECT_EQ(count(collect(*publisher), Kind::confirmed), publications.size());
  const auto source = under_->receive();
  std::set<std::string> ids;
  for (std::vector<Delivery> got; ids.size() < 401; got.clear()) {
    source->receive(got, 1000, generous);
    ASSERT_FALSE(got.empty());
    for (const Delivery& delivery : got) ids.emplace(delivery.envelope.message_id().text());
  }
}

TEST_P(Losing, AllOfThemAreToldWhenTheConnectionIsLost) {
  const auto publisher = under_->open({.window = 10, .through_proxy = true});
  Publications publications = numbered(1, 30);
  publications[14] = marked(14);
  proxy_.set({"the mark", Rule::Act::cut_after, 1});
  const Receipts receipts = publish_all(*publisher, publications, generous);
  EXPECT_EQ(count(receipts, Kind::confirmed), 30u) << "some of them on a new connection";
  EXPECT_EQ(publisher->counters().in_doubt > 0, unanswered_ == Kind::in_doubt);
}

TEST_P(Losing, SlowLineIsNoLoss) {
  proxy_.throttle(20'000);
  const auto publisher = open();
  const std::string payload = '"' + std::string(300'000, 'x') + '"';
  Publications publications;
  for (std::uint64_t tag = 1; tag <= 10; ++tag) publications.push_back(publication(tag, destination_, payload));
  Receipts receipts;
  for (std::span<const Publication> rest = publications; !rest.empty();) {
    publisher->publish(rest.first(1));
    for (const Receipt& receipt : collect(*publisher)) {
      EXPECT_EQ(receipt.kind, Kind::confirmed) << receipt.why;
      receipts.push_back(receipt);
    }
    rest = rest.subspan(1);
  }
  EXPECT_EQ(kinds(receipts).size(), 10u);
  EXPECT_EQ(publisher->counters().reconnects, 0u);
}

}  // namespace
}  // namespace onceward
