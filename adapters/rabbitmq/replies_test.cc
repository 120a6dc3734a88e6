#include "adapters/rabbitmq/replies.h"

#include <gtest/gtest.h>

namespace onceward::rabbitmq {
namespace {

Closed channel_closed(std::uint16_t code, std::string_view text) {
  amqp_channel_close_t close{};
  close.reply_code = code;
  close.reply_text = bytes_of(text);
  return closed(source_role, "rabbitmq at h:1", close);
}

TEST(RabbitmqReplies, QueueThatIsNotThereIsMissing) {
  const Closed fault = channel_closed(AMQP_NOT_FOUND, "NOT_FOUND - no queue 'orders' in vhost '/'");
  EXPECT_TRUE(is_missing(fault));
  EXPECT_EQ(fault.fault(), FaultCode::source_refused);
}

// Nobody has to make it, and it comes back by itself.
TEST(RabbitmqReplies, QueueWhoseNodeIsDownIsAwayAndNotMissing) {
  const Closed fault =
      channel_closed(AMQP_NOT_FOUND,
                     "NOT_FOUND - home node 'rabbit@b' of durable queue 'orders' in vhost '/' is down or inaccessible");
  EXPECT_FALSE(is_missing(fault));
  EXPECT_EQ(fault.fault(), FaultCode::source_unavailable);
}

TEST(RabbitmqReplies, WhatIsNotAllowedNeedsHelp) {
  const Closed fault = channel_closed(AMQP_ACCESS_REFUSED, "ACCESS_REFUSED - access to queue 'orders'");
  EXPECT_FALSE(is_missing(fault));
  EXPECT_EQ(fault.fault(), FaultCode::source_refused);
}

TEST(RabbitmqReplies, WhoeverIsLateMayTryAgain) {
  const Closed late = channel_closed(AMQP_PRECONDITION_FAILED,
                                     "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout "
                                     "value used: 1800000 ms. This timeout value can be configured");
  EXPECT_TRUE(is_late(late));
  EXPECT_EQ(late.fault(), FaultCode::source_unavailable);
  const Closed other = channel_closed(AMQP_PRECONDITION_FAILED, "PRECONDITION_FAILED - unknown delivery tag 7");
  EXPECT_FALSE(is_late(other));
  EXPECT_EQ(other.fault(), FaultCode::source_refused);
}

}  // namespace
}  // namespace onceward::rabbitmq
