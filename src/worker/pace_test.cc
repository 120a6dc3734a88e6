#include "src/worker/pace.h"

#include <gtest/gtest.h>

namespace onceward {
namespace {

using namespace std::chrono_literals;

TEST(Pace, OfFastHandlersIsTheBatch) {
  Pace pace(1000, 10s);
  pace.ran(1000, 1s);
  EXPECT_EQ(pace.most(), 1000u);
  pace.ran(3, 9s);
  EXPECT_EQ(pace.most(), 1000u) << "within the budget";
}

TEST(Pace, OfSlowHandlersFitsTheirBudget) {
  Pace pace(1000, 10s);
  pace.ran(1000, 80s);
  EXPECT_EQ(pace.most(), 125u);
  pace.ran(125, 1000s);
  EXPECT_EQ(pace.most(), 1u);
  pace.ran(1, 1000s);
  EXPECT_EQ(pace.most(), 1u) << "one is the least";
}

TEST(Pace, GrowsAgainWhenTheyAreFastAgain) {
  Pace pace(1000, 10s);
  pace.ran(1000, 80s);
  pace.ran(125, 6s);
  EXPECT_EQ(pace.most(), 125u) << "twice as many would not fit";
  pace.ran(60, 1s);
  EXPECT_EQ(pace.most(), 125u) << "a few say little";
  for (int i = 0; i < 10; ++i) pace.ran(pace.most(), 1s);
  EXPECT_EQ(pace.most(), 1000u);
}

}  // namespace
}  // namespace onceward
