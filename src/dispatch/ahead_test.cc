#include "src/dispatch/ahead.h"

#include <gtest/gtest.h>

namespace onceward::dispatch {
namespace {

using namespace std::chrono_literals;

TEST(MarkingAhead, BeginsWithNothing) { EXPECT_EQ(Ahead(100).room(0), 0u); }

TEST(MarkingAhead, IsTwiceAsMuchAsIsAnsweredUntilTheNextTurnHasEnded) {
  Ahead ahead(100);
  ahead.note(16, 5ms, 6ms);  // and 4 ms until that one begins
  EXPECT_EQ(ahead.room(0), 64u);
  EXPECT_EQ(ahead.room(60), 4u);
  EXPECT_EQ(ahead.room(70), 0u);
}

TEST(MarkingAhead, IsNothingForAnEndpointThatTakesItsTime) {
  Ahead ahead(100);
  ahead.note(16, 1s, 6ms);
  EXPECT_EQ(ahead.room(0), 0u);
}

TEST(MarkingAhead, HasALimitHoweverQuicklyAnswersCome) {
  Ahead ahead(100);
  ahead.note(16, 0ms, 6ms);
  EXPECT_EQ(ahead.room(0), 100u);
  Ahead none(0);
  none.note(16, 0ms, 6ms);
  EXPECT_EQ(none.room(0), 0u);
}

}  // namespace
}  // namespace onceward::dispatch
