#include <gtest/gtest.h>

#include "onceward/envelope.h"

namespace onceward {
namespace {

TEST(Bytes, AreFollowedByZeroesForTheParser) {
  const Bytes bytes = Bytes::copy_of("{}");
  EXPECT_EQ(bytes.view(), "{}");
  for (int i = 2; i < 66; ++i) EXPECT_EQ(bytes.view().data()[i], '\0');
}

}  // namespace
}  // namespace onceward
