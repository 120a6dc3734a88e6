#include "src/source/held.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <memory>
#include <set>

namespace onceward {
namespace {

TEST(Held, TagsRise) {
  Held<int> held;
  EXPECT_EQ(held.add(10), 1u);
  EXPECT_EQ(held.add(20), 2u);
  EXPECT_EQ(held.size(), 2u);
}

TEST(Held, TagIsReleasedOnce) {
  Held<std::unique_ptr<int>> held;
  const auto tag = held.add(std::make_unique<int>(7));
  const auto other = held.add(std::make_unique<int>(8));
  EXPECT_EQ(**held.release(other), 8);
  EXPECT_EQ(held.release(other), std::nullopt);
  EXPECT_EQ(**held.release(tag), 7);
  EXPECT_EQ(held.release(tag), std::nullopt);
  EXPECT_TRUE(held.empty());
}

TEST(Held, TagsThatWereNeverGivenAreUnknown) {
  Held<int> held;
  EXPECT_EQ(held.release(0), std::nullopt);
  EXPECT_EQ(held.release(1), std::nullopt);
  held.add(1);
  EXPECT_EQ(held.release(2), std::nullopt);
  EXPECT_EQ(held.release(~std::uint64_t{0}), std::nullopt);
}

TEST(Held, TagsAreNotUsedAgainWhenAllAreReleased) {
  Held<int> held;
  const auto first = held.add(1);
  held.release(first);
  EXPECT_EQ(held.oldest(), nullptr);
  EXPECT_GT(held.add(2), first);
  EXPECT_EQ(held.release(first), std::nullopt);
}

TEST(Held, OldestIsTheOneWithTheLowestTag) {
  Held<int> held;
  const auto first = held.add(1);
  held.add(2);
  held.add(3);
  EXPECT_EQ(*held.oldest(), 1);
  held.release(first);
  EXPECT_EQ(*held.oldest(), 2);
  EXPECT_EQ(held.release_oldest(), 2);
  EXPECT_EQ(held.release_oldest(), 3);
  EXPECT_EQ(held.oldest(), nullptr);
}

RC_GTEST_PROP(HeldModel, KnowsWhatASetOfTagsKnows, ()) {
  Held<std::uint64_t> held;
  std::set<std::uint64_t> known;
  std::uint64_t last = 0;
  for (const auto step : *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::inRange<std::uint8_t>(0, 40))) {
    if (step % 2 == 0) {
      RC_ASSERT(held.add(last + 1) == last + 1);
      known.insert(++last);
    } else {
      const std::uint64_t tag = last / 2 + step / 2;
      RC_ASSERT(held.release(tag).has_value() == (known.erase(tag) == 1));
    }
    RC_ASSERT(held.size() == known.size());
    RC_ASSERT((held.oldest() == nullptr ? 0 : *held.oldest()) == (known.empty() ? 0 : *known.begin()));
  }
}

}  // namespace
}  // namespace onceward
