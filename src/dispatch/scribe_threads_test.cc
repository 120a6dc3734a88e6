#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "src/dispatch/scribe.h"

namespace onceward::dispatch {
namespace {

TEST(Scribe, DoesOnePieceOfWorkAfterTheOtherAndTellsWhenItHasEnded) {
  std::atomic<int> told = 0;
  int sum = 0;  // handed over and back: by nothing but the scribe
  {
    Scribe scribe([&] { ++told; });
    for (int i = 1; i <= 100; ++i) {
      scribe.begin([&sum, i] { sum += i; });
      scribe.finish();
      EXPECT_FALSE(scribe.busy());
      EXPECT_EQ(sum, i * (i + 1) / 2);
    }
  }
  EXPECT_EQ(told, 100);
}

TEST(Scribe, HandsOnWhatItsWorkThrowsAndGoesOn) {
  Scribe scribe([] {});
  scribe.begin([] { throw std::runtime_error("no"); });
  EXPECT_THROW(scribe.finish(), std::runtime_error);
  bool done = false;
  scribe.begin([&] { done = true; });
  scribe.finish();
  EXPECT_TRUE(done);
}

TEST(Scribe, EndsWhenItsWorkHas) {
  bool done = false;
  {
    Scribe scribe([] {});
    scribe.begin([&] { done = true; });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace onceward::dispatch
