#include <gtest/gtest.h>

#include "onceward/adapter/memory.h"
#include "tests/fixtures/message.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;

std::vector<Delivery> receive(Source& source) {
  std::vector<Delivery> deliveries;
  source.receive(deliveries, 100, 0ms);
  return deliveries;
}

TEST(MemoryQueues, EnvelopesAreHandedOverAsTheyArePushed) {
  MemoryQueue queue;
  const std::vector<Envelope> envelopes{fixtures::envelope_of({.id = "a"}), fixtures::envelope_of({.id = "b"})};
  queue.push(envelopes);
  const auto deliveries = receive(*queue.open());
  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_EQ(deliveries[0].envelope, envelopes[0]);
  EXPECT_EQ(deliveries[1].envelope, envelopes[1]);
  EXPECT_EQ(deliveries[0].envelope.payload().data(), envelopes[0].payload().data()) << "the bytes are shared";
}

TEST(MemoryQueues, WithoutAnAckTimeoutADeliveryIsHeldForEver) {
  MemoryQueue queue;
  queue.push(std::vector<Envelope>(1));
  auto source = queue.open();
  EXPECT_EQ(source->ack_timeout(), std::nullopt);
  EXPECT_EQ(receive(*source).size(), 1u);
  EXPECT_EQ(queue.depth(), (QueueDepth{0, 1}));
  source.reset();
  EXPECT_EQ(queue.depth(), (QueueDepth{1, 0}));
}

TEST(MemoryQueues, DepthTellsWhatIsReadyAndWhatIsInFlight) {
  MemoryQueue queue;
  queue.push(std::vector<Envelope>(5));
  auto source = queue.open();
  std::vector<Delivery> deliveries;
  source->receive(deliveries, 3, 0ms);
  EXPECT_EQ(queue.depth(), (QueueDepth{2, 3}));
  const std::vector<Settlement> settlements{{deliveries[0].tag, Settle::accept},
                                            {deliveries[1].tag, Settle::redeliver}};
  source->settle(settlements);
  EXPECT_EQ(queue.depth(), (QueueDepth{3, 1}));
}

TEST(MemoryQueues, SourcesMayOutliveTheirQueue) {
  auto queue = std::make_unique<MemoryQueue>();
  queue->push(std::vector<Envelope>(1));
  auto source = queue->open();
  queue.reset();
  EXPECT_EQ(receive(*source).size(), 1u);
}

TEST(MemoryQueues, WhatIsSettledIsSetFree) {
  MemoryQueue queue;
  const auto bytes = std::make_shared<int>(7);
  queue.push(std::vector<Envelope>{Envelope({}, bytes)});
  auto source = queue.open();
  const Settlement settlement{receive(*source).at(0).tag, Settle::accept};
  EXPECT_EQ(bytes.use_count(), 2);
  source->settle({&settlement, 1});
  EXPECT_EQ(bytes.use_count(), 1);
}

TEST(MemoryQueues, DisturbancePastItsLimitsIsRefused) {
  EXPECT_THROW(MemoryQueue({.disturbance = {.duplicates = 1}}), Fault);
}

}  // namespace
}  // namespace onceward
