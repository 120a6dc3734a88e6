#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onceward/adapter/embedded.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/reader.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;

class EmbeddedSenders : public testing::Test {
 protected:
  fixtures::TemporaryDirectory directory_;
  EmbeddedOptions options_{.path = directory_.path() + "/test.queue"};
  EmbeddedSender sender_{options_};
};

TEST_F(EmbeddedSenders, BytesAreKeptAsTheyAre) {
  const std::string torn("\0\xff{ \"a\" : 1.0 }\n", 16);
  const std::vector<std::string_view> messages{torn, ""};
  sender_.send(messages);
  auto reader = fixtures::read_sqlite(options_.path);
  EXPECT_EQ(reader->value("SELECT hex(body) FROM message ORDER BY position LIMIT 1"),
            "00FF7B20226122203A20312E30207D0A");
  EXPECT_EQ(reader->number("SELECT length(body) FROM message ORDER BY position DESC LIMIT 1"), 0);
}

TEST_F(EmbeddedSenders, BatchIsSentWholeOrNotAtAll) {
  fixtures::read_sqlite(options_.path)
      ->run(
          "CREATE TRIGGER full BEFORE INSERT ON message WHEN (SELECT count(*) FROM message) = 2 "
          "BEGIN SELECT raise(ABORT, 'full'); END");
  const std::vector<std::string_view> messages{"a", "b", "c"};
  EXPECT_EQ(fixtures::fault_of([&] { sender_.send(messages); }), FaultCode::source_refused);
  EXPECT_EQ(sender_.depth(), (QueueDepth{0, 0}));
  sender_.send(std::span(messages).first(2));
  EXPECT_EQ(sender_.depth(), (QueueDepth{2, 0}));
}

TEST_F(EmbeddedSenders, MessageThatIsTooLargeIsRefusedBeforeAnythingIsSent) {
  const std::string large(EmbeddedOptions::most_message_bytes + 1, 'x');
  const std::vector<std::string_view> messages{"a", large};
  EXPECT_EQ(fixtures::fault_of([&] { sender_.send(messages); }), FaultCode::source_refused);
  EXPECT_EQ(sender_.depth(), (QueueDepth{0, 0}));
}

TEST_F(EmbeddedSenders, DepthTellsWhatIsReadyAndWhatIsInFlight) {
  EXPECT_EQ(sender_.depth(), (QueueDepth{0, 0}));
  const std::vector<std::string_view> messages{"a", "b", "c", "d", "e"};
  sender_.send(messages);
  EXPECT_EQ(sender_.depth(), (QueueDepth{5, 0}));
  auto source = open_embedded(options_);
  std::vector<Delivery> deliveries;
  source->receive(deliveries, 3, 0ms);
  EXPECT_EQ(sender_.depth(), (QueueDepth{2, 3}));
  const std::vector<Settlement> settlements{{deliveries[0].tag, Settle::accept},
                                            {deliveries[1].tag, Settle::redeliver}};
  source->settle(settlements);
  EXPECT_EQ(sender_.depth(), (QueueDepth{3, 1}));
  source.reset();
  EXPECT_EQ(sender_.depth(), (QueueDepth{4, 0}));
}

TEST_F(EmbeddedSenders, NothingIsSent) {
  sender_.send({});
  EXPECT_EQ(sender_.depth(), (QueueDepth{0, 0}));
}

TEST_F(EmbeddedSenders, PositionsAreNeverUsedAgain) {
  const std::string_view message = "{}";
  auto source = open_embedded(options_);
  auto reader = fixtures::read_sqlite(options_.path);
  std::int64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    sender_.send({&message, 1});
    const std::int64_t position = reader->number("SELECT max(position) FROM message");
    EXPECT_GT(position, last);
    last = position;
    std::vector<Delivery> deliveries;
    source->receive(deliveries, 1, 0ms);
    const Settlement settlement{deliveries.at(0).tag, Settle::accept};
    source->settle({&settlement, 1});
  }
}

}  // namespace
}  // namespace onceward
