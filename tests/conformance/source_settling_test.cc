// What settle() does, and what it makes of tags that it does not know.
#include "tests/conformance/source_suite.h"

namespace onceward {
namespace {

class Settling : public OnEverySource {
 protected:
  // Everything that is or will be in the queue, after this source is closed.
  Ids left() {
    source_.reset();
    source_ = under_->open();
    Ids ids;
    for (Deliveries got; !(got = receive(*source_, 1000, quiet())).empty(); settle(*source_, got)) {
      for (const std::string& id : ids_of(got)) ids.push_back(id);
    }
    return sorted(ids);
  }
};
ONCEWARD_ON_EVERY_SOURCE(Settling);

class SettlingEachAlone : public Settling {};
ONCEWARD_ON_SOURCES_THAT(SettlingEachAlone, each_alone);

class SettlingForAll : public Settling {};
ONCEWARD_ON_SOURCES_THAT(SettlingForAll, shared);

TEST_P(Settling, AcceptedMessageNeverComesAgain) {
  send({"a", "b"});
  const Deliveries deliveries = receive_all(*source_, 2);
  settle(*source_, deliveries[0].tag);
  EXPECT_EQ(source_->counters().settled, 1u);
  EXPECT_EQ(left(), ids_of({deliveries[1]}));
}

TEST_P(Settling, ParkedMessageNeverComesAgain) {
  send({"a", "b"});
  const Deliveries deliveries = receive_all(*source_, 2);
  settle(*source_, deliveries[0].tag, Settle::park);
  EXPECT_EQ(source_->counters().settled, 1u);
  EXPECT_EQ(left(), ids_of({deliveries[1]}));
}

TEST_P(Settling, RedeliveredMessageComesAgainAndSaysSo) {
  send({"a"});
  Deliveries deliveries = receive(*source_);
  const std::uint64_t first = deliveries.at(0).redelivered ? 1 : 0;
  for (std::uint32_t times = 2; times <= 4; ++times) {
    settle(*source_, deliveries, Settle::redeliver);
    deliveries = receive(*source_);
    ASSERT_EQ(ids_of(deliveries), Ids{"a"});
    expect_count(deliveries[0], times);
  }
  EXPECT_EQ(source_->counters().received, 4u);
  EXPECT_EQ(source_->counters().redelivered, 3u + first);
  EXPECT_EQ(source_->counters().settled, 3u);
  EXPECT_EQ(source_->counters().settle_failed, 0u);
}

TEST_P(SettlingForAll, RedeliveredMessageMayComeToAnybody) {
  send({"a"});
  auto other = under_->open();
  settle(*source_, receive(*source_), Settle::redeliver);
  if (GetParam().capabilities.holds_ahead) source_.reset();  // it may hold it again
  EXPECT_EQ(ids_of(receive(*other)), Ids{"a"});
}

TEST_P(SettlingEachAlone, EachInOneCallIsSettledInItsOwnWay) {
  send(numbered(9));
  const Deliveries deliveries = receive_all(*source_, 9);
  std::vector<Settlement> settlements;
  Ids again;
  for (std::size_t i = 0; i < deliveries.size(); ++i) {
    const Settle how = i % 3 == 0 ? Settle::accept : i % 3 == 1 ? Settle::redeliver : Settle::park;
    settlements.push_back({deliveries[i].tag, how});
    if (how == Settle::redeliver) again.push_back(ids_of(deliveries)[i]);
  }
  source_->settle(settlements);
  EXPECT_EQ(source_->counters().settled, 9u);
  EXPECT_EQ(left(), sorted(again));
}

TEST_P(SettlingEachAlone, InAnyOrderAndInParts) {
  send(numbered(10));
  const Deliveries deliveries = receive_all(*source_, 10);
  for (const std::size_t which : {7u, 2u, 9u, 0u, 3u}) settle(*source_, deliveries[which].tag);
  const std::vector<Settlement> backwards{{deliveries[8].tag}, {deliveries[6].tag}, {deliveries[1].tag}};
  source_->settle(backwards);
  EXPECT_EQ(source_->counters().settled, 8u);
  EXPECT_EQ(left(), sorted(ids_of({deliveries[4], deliveries[5]})));
}

TEST_P(Settling, DeliveriesOfSeveralCallsAreSettledInOne) {
  send(numbered(6));
  Deliveries deliveries = receive(*source_, 2);
  while (deliveries.size() < 6) source_->receive(deliveries, 2, generous);
  settle(*source_, deliveries);
  EXPECT_EQ(source_->counters().settled, 6u);
  EXPECT_EQ(left(), Ids{});
}

TEST_P(Settling, NothingIsSettled) {
  source_->settle({});
  EXPECT_EQ(source_->counters().settled, 0u);
  EXPECT_EQ(source_->counters().settle_failed, 0u);
}

TEST_P(Settling, UnknownTagsAreCountedAndOtherwiseIgnored) {
  send({"a", "b"});
  const Deliveries deliveries = receive_all(*source_, 2);
  const std::uint64_t beyond = deliveries[1].tag + 1;
  const std::vector<Settlement> settlements{{0}, {beyond}, {deliveries[0].tag}, {~std::uint64_t{0}}};
  source_->settle(settlements);
  EXPECT_EQ(source_->counters().settled, 1u);
  EXPECT_EQ(source_->counters().settle_failed, 3u);
  EXPECT_EQ(left(), ids_of({deliveries[1]}));
}

TEST_P(Settling, TagIsKnownOnlyUntilItIsSettled) {
  send({"a"});
  const Deliveries deliveries = receive(*source_);
  const std::vector<Settlement> twice{{deliveries[0].tag, Settle::redeliver}, {deliveries[0].tag, Settle::accept}};
  source_->settle(twice);
  settle(*source_, deliveries[0].tag);
  EXPECT_EQ(source_->counters().settled, 1u);
  EXPECT_EQ(source_->counters().settle_failed, 2u);
  EXPECT_EQ(left(), Ids{"a"}) << "the first word counts";
}

TEST_P(Settling, TagsAreOfOneSource) {
  auto another = open_another();
  send({"a"});
  Source *holder = source_.get(), *other = another.get();
  Deliveries deliveries;
  await("either has it", [&] {
    std::swap(holder, other);
    holder->receive(deliveries, 1, 50ms);
    return !deliveries.empty();
  });
  settle(*other, deliveries);
  EXPECT_EQ(other->counters().settle_failed, 1u);
  EXPECT_EQ(holder->counters().settle_failed, 0u);
  another.reset();
  EXPECT_EQ(left(), Ids{"a"});
}

}  // namespace
}  // namespace onceward
