// The embedded queue under errors of its file: nothing that was sent is lost, and it goes on by itself.
#include "onceward/adapter/embedded.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/faults/faulty_vfs.h"
#include "tests/fixtures/messages.h"
#include "tests/fixtures/process.h"
#include "tests/fixtures/waiting.h"

namespace onceward::faults {
namespace {

using fixtures::fault_of;
using namespace std::chrono_literals;

class TroubledQueue : public testing::Test {
 protected:
  static std::string message(int number) { return R"({"messageId":")" + std::to_string(number) + R"("})"; }
  static void send(EmbeddedSender& sender, int number) {
    const std::string text = message(number);
    const std::string_view view = text;
    sender.send({&view, 1});
  }
  static void accept(Source& source, const Delivery& delivery) {
    const Settlement settlement{delivery.tag, Settle::accept};
    source.settle({&settlement, 1});
  }

  fixtures::TemporaryDirectory directory_;
  EmbeddedOptions options_{.path = directory_.path() + "/test.queue", .visibility = 200ms};
};

TEST_F(TroubledQueue, LosesNothingAndGoesOnAcrossErrorsOfTheLog) {
  constexpr int count = 24;
  FaultyVfs vfs;
  EmbeddedSender sender(options_);
  auto source = open_embedded(options_);
  const auto trouble = [&](int nth) {
    vfs.fail(nth % 2 == 0 ? FaultyVfs::Call::sync : FaultyVfs::Call::write,
             nth % 2 == 0 ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE, nth % 3);
  };
  for (int number = 0; number < count; ++number) {
    trouble(number);
    fixtures::await("it is sent", [&] {
      try {
        send(sender, number);
        return true;
      } catch (const Fault& fault) {
        EXPECT_EQ(fault.fault(), FaultCode::source_unavailable) << fault.what();
        return false;
      }
    });
  }
  std::set<std::string> accepted;
  int round = 0;
  fixtures::await("all are accepted", [&] {
    std::vector<Delivery> deliveries;
    trouble(round++);
    try {
      source->receive(deliveries, 5, 300ms);
      trouble(round++);
      for (const Delivery& delivery : deliveries) {
        accept(*source, delivery);
        accepted.emplace(delivery.envelope.message_id().text());
      }
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::source_unavailable) << fault.what();
    }
    return accepted.size() == count;
  });
  EXPECT_GE(vfs.failed(), 10);
  EXPECT_GE(source->counters().reconnects, 1u);
  vfs.heal();
}

TEST_F(TroubledQueue, ReceiveOpensALostFileAgainInTheSameCall) {
  FaultyVfs vfs;
  EmbeddedSender sender(options_);
  send(sender, 1);
  auto source = open_embedded(options_);
  vfs.fail(FaultyVfs::Call::write, SQLITE_IOERR_WRITE);
  std::vector<Delivery> deliveries;
  source->receive(deliveries, 1, fixtures::generous);
  EXPECT_EQ(vfs.failed(), 1);
  EXPECT_EQ(deliveries.size(), 1u);
  EXPECT_EQ(source->counters().reconnects, 1u);
}

TEST_F(TroubledQueue, ReceiveThrowsWhileTheFileStaysLost) {
  FaultyVfs vfs;
  EmbeddedSender sender(options_);
  send(sender, 1);
  auto source = open_embedded(options_);
  vfs.fail(FaultyVfs::Call::write, SQLITE_IOERR_WRITE, 0, 1'000'000);
  std::vector<Delivery> deliveries;
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(fault_of([&] { source->receive(deliveries, 1, fixtures::generous); }), FaultCode::source_unavailable);
  }
  vfs.heal();
  source->receive(deliveries, 1, fixtures::generous);
  EXPECT_EQ(deliveries.size(), 1u);
  accept(*source, deliveries[0]);
  EXPECT_EQ(source->counters().settled, 1u);
}

TEST_F(TroubledQueue, ReceiveGoesOnWhenALostFileCouldNotBeOpenedForAWhile) {
  FaultyVfs vfs;
  EmbeddedSender sender(options_);
  send(sender, 1);
  auto source = open_embedded(options_);
  const std::string away = directory_.path() + ".away";
  std::filesystem::rename(directory_.path(), away);
  vfs.fail(FaultyVfs::Call::write, SQLITE_IOERR_WRITE);
  std::vector<Delivery> deliveries;
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(fault_of([&] { source->receive(deliveries, 1, fixtures::generous); }), FaultCode::source_refused);
  }
  std::filesystem::rename(away, directory_.path());
  source->receive(deliveries, 1, fixtures::generous);
  EXPECT_EQ(deliveries.size(), 1u);
}

TEST_F(TroubledQueue, SettlementThatFailsIsCountedAndTheMessageComesBack) {
  FaultyVfs vfs;
  EmbeddedSender sender(options_);
  send(sender, 1);
  auto source = open_embedded(options_);
  std::vector<Delivery> deliveries;
  source->receive(deliveries, 1, fixtures::generous);
  vfs.fail(FaultyVfs::Call::write, SQLITE_IOERR_WRITE, 0, 1'000'000);
  EXPECT_EQ(fault_of([&] { accept(*source, deliveries.at(0)); }), FaultCode::source_unavailable);
  EXPECT_EQ(source->counters().settle_failed, 1u);
  EXPECT_EQ(source->counters().settled, 0u);
  vfs.heal();
  source->receive(deliveries, 1, fixtures::generous);
  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_TRUE(deliveries[1].redelivered);
}

TEST_F(TroubledQueue, SenderOpensALostFileAgain) {
  FaultyVfs vfs;
  EmbeddedSender sender(options_);
  vfs.fail(FaultyVfs::Call::write, SQLITE_IOERR_WRITE);
  EXPECT_EQ(fault_of([&] { send(sender, 1); }), FaultCode::source_unavailable);
  for (const char* const suffix : {"", "-wal", "-shm"}) std::filesystem::remove(options_.path + suffix);
  send(sender, 2);
  std::vector<Delivery> deliveries;
  open_embedded(options_)->receive(deliveries, 1, fixtures::generous);
  ASSERT_EQ(deliveries.size(), 1u) << "it is in the file that is there";
  EXPECT_EQ(deliveries[0].envelope.message_id(), MessageId("2"));
}

TEST_F(TroubledQueue, FullDiskIsUnavailableAndSaysWhatToDo) {
  FaultyVfs vfs;
  EmbeddedSender sender(options_);
  vfs.fail(FaultyVfs::Call::write, SQLITE_FULL, 0, 1'000'000);
  try {
    send(sender, 1);
    FAIL() << "sent to a full disk";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_unavailable);
    EXPECT_NE(std::string_view(fault.what()).find("free space"), std::string_view::npos) << fault.what();
  }
  vfs.heal();
  EXPECT_EQ(sender.depth(), (QueueDepth{0, 0}));
  send(sender, 1);
  EXPECT_EQ(sender.depth(), (QueueDepth{1, 0}));
}

}  // namespace
}  // namespace onceward::faults
