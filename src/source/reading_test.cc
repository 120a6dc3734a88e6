#include "src/source/reading.h"

#include <gtest/gtest.h>

namespace onceward {
namespace {

TEST(ReadDelivery, HoldsTheEnvelope) {
  const Delivery delivery = read_delivery(Bytes::copy_of(R"({"messageId":"m1","payload":[1, 2]})"), {});
  EXPECT_FALSE(delivery.refusal.has_value());
  EXPECT_EQ(delivery.envelope.message_id(), MessageId("m1"));
  EXPECT_EQ(delivery.envelope.payload(), "[1, 2]");
}

TEST(ReadDelivery, OfRefusedBytesHoldsThemAllAndTheReason) {
  const std::string_view text("{\"messageId\":\0]", 15);
  const Delivery delivery = read_delivery(Bytes::copy_of(text), {});
  ASSERT_TRUE(delivery.refusal.has_value());
  EXPECT_EQ(delivery.refusal->reason, Reason::nul_in_text);
  EXPECT_EQ(delivery.envelope.payload(), text);
  EXPECT_TRUE(delivery.envelope.message_id().empty());
}

TEST(ReadDelivery, KeepsTheBytesAlive) {
  Delivery refused;
  Delivery read;
  {
    refused = read_delivery(Bytes::copy_of("a letter that is much longer than any small buffer"), {});
    read = read_delivery(Bytes::copy_of(R"({"messageId":"a name that is longer than any small buffer"})"), {});
  }
  EXPECT_EQ(refused.envelope.payload(), "a letter that is much longer than any small buffer");
  EXPECT_EQ(read.envelope.message_id(), MessageId("a name that is longer than any small buffer"));
}

}  // namespace
}  // namespace onceward
