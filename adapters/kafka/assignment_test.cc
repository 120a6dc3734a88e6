#include "adapters/kafka/assignment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace onceward::kafka {
namespace {

Partition with(std::initializer_list<std::int64_t> offsets) {
  Partition partition(1, *offsets.begin());
  for (const std::int64_t offset : offsets) partition.hand_out(offset, {});
  return partition;
}

TEST(Partition, NothingIsDueBeforeItIsSettled) {
  Partition partition = with({10, 11});
  EXPECT_FALSE(partition.due());
  EXPECT_EQ(partition.held(), 2u);
  EXPECT_EQ(partition.position(), 12);
}

TEST(Partition, WhatLiesBehindAGapWaitsForIt) {
  Partition partition = with({10, 11, 12, 13});
  partition.settle(10);
  partition.settle(12);
  EXPECT_EQ(partition.due(), 11);
  EXPECT_EQ(partition.committed(11), 1u);
  EXPECT_FALSE(partition.due()) << "12 may not be committed while 11 is held";
  EXPECT_EQ(partition.uncommitted(), 1u);
  partition.settle(11);
  EXPECT_EQ(partition.due(), 13);
  EXPECT_EQ(partition.committed(13), 2u);
  EXPECT_EQ(partition.held(), 1u);
}

TEST(Partition, OffsetsMayHaveHoles) {
  Partition partition = with({10, 17, 40});
  EXPECT_FALSE(partition.expects(40));
  EXPECT_TRUE(partition.expects(41));
  partition.settle(10);
  partition.settle(17);
  EXPECT_EQ(partition.due(), 18);
}

TEST(Partition, CommitOfAnEarlierMomentCountsWhatItCovers) {
  Partition partition = with({1, 2, 3});
  for (const std::int64_t offset : {1, 2, 3}) partition.settle(offset);
  EXPECT_EQ(partition.committed(2), 1u);
  EXPECT_EQ(partition.due(), 4);
  EXPECT_EQ(partition.committed(2), 0u) << "twice is once";
  EXPECT_EQ(partition.committed(4), 2u);
}

TEST(Partition, WhatIsGivenBackComesAgainLowestFirstAndHoldsTheCommit) {
  Partition partition = with({1, 2, 3});
  partition.give_back(3);
  partition.give_back(1);
  partition.settle(2);
  EXPECT_FALSE(partition.due());
  EXPECT_TRUE(partition.has_waiting());
  EXPECT_EQ(partition.hand_out_again()->offset, 1);
  EXPECT_EQ(partition.hand_out_again()->offset, 3);
  EXPECT_FALSE(partition.hand_out_again());
  partition.settle(1);
  EXPECT_EQ(partition.due(), 3);
}

TEST(Partition, WhereItWasSkippedToIsDueOnceAndNothingGoesBackBehindIt) {
  Partition partition = with({1, 2});
  partition.skip_to(50);
  EXPECT_FALSE(partition.expects(49));
  EXPECT_EQ(partition.due(), 50) << "1 and 2 are nowhere but in our hands";
  partition.committed(2);
  EXPECT_EQ(partition.due(), 50) << "that was asked before";
  partition.committed(50);
  EXPECT_FALSE(partition.due());
  partition.settle(1);
  EXPECT_EQ(partition.due(), 50);
  EXPECT_EQ(partition.committed(50), 1u);
  partition.hand_out(50, {});
  partition.settle(2);
  partition.settle(50);
  EXPECT_EQ(partition.due(), 51);
  EXPECT_EQ(partition.committed(51), 2u);
}

TEST(Assignment, GenerationsTellAssignmentsApart) {
  Assignment assignment;
  const std::uint64_t first = assignment.add(0, 5).generation();
  assignment.remove(0);
  EXPECT_EQ(assignment.find(0), nullptr);
  const std::uint64_t second = assignment.add(0, 5).generation();
  EXPECT_EQ(assignment.find(0, first), nullptr);
  EXPECT_NE(assignment.find(0, second), nullptr);
}

TEST(Assignment, WhatWasSettledAndNeverCommittedIsCounted) {
  Assignment assignment;
  Partition& partition = assignment.add(3, 0);
  for (std::int64_t offset = 0; offset < 4; ++offset) partition.hand_out(offset, {});
  for (const std::int64_t offset : {0, 1, 3}) partition.settle(offset);
  partition.committed(1);
  assignment.clear();
  EXPECT_EQ(assignment.take_failed(), 2u);
  EXPECT_EQ(assignment.take_failed(), 0u);
  EXPECT_TRUE(assignment.take_changed());
  EXPECT_FALSE(assignment.take_changed());
}

// Against the plainest model there is: what may be committed is what every message below has settled.
RC_GTEST_PROP(PartitionProperty, CommitsNothingThatIsNotSettled, ()) {
  Partition partition(1, 0);
  std::set<std::int64_t> held, waiting, settled;
  std::int64_t committed = 0;
  const auto any_of = [](const std::set<std::int64_t>& from) { return *rc::gen::elementOf(from); };
  for (int step = 0; step < 60; ++step) {
    const int what = *rc::gen::inRange(0, 5);
    if (what == 0) {
      const std::int64_t offset = partition.position() + *rc::gen::inRange(0, 3);
      partition.hand_out(offset, {});
      held.insert(offset);
    } else if (what == 1 && !held.empty()) {
      const std::int64_t offset = any_of(held);
      partition.settle(offset);
      held.erase(offset);
      settled.insert(offset);
    } else if (what == 2 && !held.empty()) {
      const std::int64_t offset = any_of(held);
      partition.give_back(offset);
      held.erase(offset);
      waiting.insert(offset);
    } else if (what == 3) {
      const auto again = partition.hand_out_again();
      RC_ASSERT(again.has_value() == !waiting.empty());
      if (again) {
        RC_ASSERT(again->offset == *waiting.begin());
        held.insert(again->offset);
        waiting.erase(waiting.begin());
      }
    } else if (const auto due = partition.due()) {
      RC_ASSERT(held.lower_bound(*due) == held.begin());
      RC_ASSERT(waiting.lower_bound(*due) == waiting.begin());
      RC_ASSERT(*due > committed);
      committed = *due;
      RC_ASSERT(partition.committed(*due) ==
                static_cast<std::size_t>(std::erase_if(settled, [&](std::int64_t offset) { return offset < *due; })));
    }
    RC_ASSERT(partition.held() == held.size());
    RC_ASSERT(partition.uncommitted() == settled.size());
  }
}

}  // namespace
}  // namespace onceward::kafka
