#include "src/worker/receiver.h"

#include <gtest/gtest.h>

#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/waiting.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using fixtures::await;

// Whose messages cannot be had, though its connection stands.
class DrySource final : public Source {
 public:
  void receive(std::vector<Delivery>&, std::size_t most, std::chrono::milliseconds) override {
    if (most > 0) {
      ++asked;
      throw Fault(FaultCode::source_refused, Poisons::connection, "nothing is handed out");
    }
    ++tended;
  }
  void settle(std::span<const Settlement> settlements) override {
    asked_before_settling = asked.load();
    settled += settlements.size();
  }
  void wake() noexcept override {}
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return std::nullopt; }
  SourceCounters counters() const override { return {}; }
  std::string describe() const override { return "dry"; }

  std::atomic<std::size_t> asked = 0, tended = 0, settled = 0, asked_before_settling = 0;
};

class Receivers : public testing::Test {
 protected:
  DrySource source_;
  Declaration declaration_;
  Handover handover_{10};
  ConsumerTally tally_;
  fixtures::KeptLog log_;
};

TEST_F(Receivers, SourceIsTendedWhileItRests) {
  const Receiver receiver(source_, declaration_, handover_, tally_, log_);
  await("it has been tended", [&] { return source_.tended >= 1; });
  EXPECT_LE(source_.asked, 7u) << "and asked less and less often";
  EXPECT_EQ(receiver.trouble(), "nothing is handed out");
  EXPECT_EQ(tally_.source_outages, 1u);
}

TEST_F(Receivers, WhatIsSettledIsToldWhileItRests) {
  const Receiver receiver(source_, declaration_, handover_, tally_, log_);
  await("it rests for longer", [&] { return source_.tended >= 2; });
  const std::size_t asked = source_.asked;
  const Settlement settlement{.tag = 1};
  handover_.settle({&settlement, 1});
  await("the source is told", [&] { return source_.settled == 1; });
  EXPECT_EQ(source_.asked_before_settling, asked);
}

}  // namespace
}  // namespace onceward
