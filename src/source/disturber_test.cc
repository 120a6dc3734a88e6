#include "src/source/disturber.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "onceward/fault.h"

namespace onceward {
namespace {

std::vector<int> shuffled(const Disturbance& disturbance, int count = 100) {
  Disturber disturber(disturbance);
  std::vector<int> items(static_cast<std::size_t>(count));
  std::iota(items.begin(), items.end(), 0);
  disturber.shuffle(items);
  return items;
}

TEST(Disturber, DoesNothingUnlessAsked) {
  Disturber disturber({});
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(disturber.comes_again());
  EXPECT_EQ(disturber.looked_at(10), 10u);
  EXPECT_TRUE(std::ranges::is_sorted(shuffled({})));
}

TEST(Disturber, DuplicatesAreTheShareThatWasAskedFor) {
  Disturber disturber({.duplicates = 0.3});
  int again = 0;
  for (int i = 0; i < 100'000; ++i) again += disturber.comes_again() ? 1 : 0;
  EXPECT_NEAR(again, 30'000, 700);  // five deviations
}

TEST(Disturber, ShuffledItemsAreTheSameInAnotherOrder) {
  std::vector<int> items = shuffled({.reorder = 10});
  EXPECT_FALSE(std::ranges::is_sorted(items));
  std::ranges::sort(items);
  EXPECT_EQ(items, shuffled({}));
}

TEST(Disturber, LooksAtMoreThanIsAskedFor) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(Disturber({.reorder = 7}).looked_at(10), 17u);
  EXPECT_EQ(Disturber({.reorder = 7}).looked_at(all), all);
}

TEST(Disturber, SeedDecidesAndNothingElse) {
  EXPECT_EQ(shuffled({.reorder = 1, .seed = 7}), shuffled({.reorder = 1, .seed = 7}));
  EXPECT_NE(shuffled({.reorder = 1, .seed = 7}), shuffled({.reorder = 1, .seed = 8}));
  // Written down, so that a seed means the same on every machine and in every version.
  EXPECT_EQ(shuffled({.reorder = 1, .seed = 7}, 8), (std::vector<int>{1, 4, 5, 2, 6, 0, 3, 7}));
}

TEST(Disturber, RefusesWhatIsPastItsLimits) {
  for (const double duplicates : {-0.1, 0.91, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(Disturber({.duplicates = duplicates}), Fault) << duplicates;
  }
  EXPECT_THROW(Disturber({.reorder = 10'001}), Fault);
  Disturber({.duplicates = 0.9, .reorder = 10'000});
}

}  // namespace
}  // namespace onceward
