#include "adapters/rabbitmq/limits.h"

#include <gtest/gtest.h>

namespace onceward::rabbitmq {
namespace {

TEST(RabbitmqLimits, DeliveriesHaveADefaultLimitSinceVersionFour) {
  EXPECT_EQ(default_delivery_limit("3.10.8"), -1);
  EXPECT_EQ(default_delivery_limit("3.13.7+2"), -1);
  EXPECT_EQ(default_delivery_limit("4.0.2"), 20);
  EXPECT_EQ(default_delivery_limit("10.1"), 20);
  for (const char* const other : {"", "unknown", "v4"}) EXPECT_EQ(default_delivery_limit(other), std::nullopt);
}

}  // namespace
}  // namespace onceward::rabbitmq
