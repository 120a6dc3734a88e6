#include "src/worker/receiver.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <vector>

#include "tests/fixtures/kept_log.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Away for so many tries, of which it keeps the times.
class AwaySource final : public Source {
 public:
  explicit AwaySource(std::size_t tries) : tries_(tries) {}

  void receive(std::vector<Delivery>&, std::size_t most, std::chrono::milliseconds) override {
    if (most == 0) return;  // is only tended
    const std::lock_guard lock(mutex_);
    times_.push_back(Clock::now());
    tried_.notify_all();
    if (times_.size() <= tries_) throw Fault(FaultCode::source_unavailable, Poisons::connection, "away");
  }
  void settle(std::span<const Settlement>) override {}
  void wake() noexcept override {}
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return std::nullopt; }
  SourceCounters counters() const override { return {}; }
  std::string describe() const override { return "away"; }

  // The time from each try to the next, once it is back.
  std::vector<std::chrono::milliseconds> await_pauses() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(tried_.wait_for(lock, 60s, [&] { return times_.size() > tries_; }));
    std::vector<std::chrono::milliseconds> pauses;
    for (std::size_t at = 1; at < times_.size(); ++at) {
      pauses.push_back(std::chrono::ceil<std::chrono::milliseconds>(times_[at] - times_[at - 1]));
    }
    pauses.resize(tries_);
    return pauses;
  }

 private:
  const std::size_t tries_;
  std::mutex mutex_;
  std::condition_variable tried_;
  std::vector<Clock::time_point> times_;
};

// Red if it is tried again at once, or as often as at first.
TEST(Receiver, TriesEverMoreSeldomWhileTheSourceIsAway) {
  AwaySource source(5);
  const Declaration declaration;
  Handover handover(10);
  ConsumerTally tally;
  std::vector<std::chrono::milliseconds> pauses;
  {
    const Receiver receiver(source, declaration, handover, tally, silent_log());
    pauses = source.await_pauses();
  }
  for (std::size_t at = 0; at < pauses.size(); ++at) EXPECT_GE(pauses[at], 100ms * (1 << at)) << at;
}

// Away, then refused for a reason, then for another one; logged when somebody has to help, and never twice.
TEST(Receiver, SaysWhatIsWrongNow) {
  fixtures::KeptLog log;
  class Changing final : public Source {
   public:
    void receive(std::vector<Delivery>&, std::size_t most, std::chrono::milliseconds) override {
      if (most == 0) return;
      const std::size_t turn = turn_++ / 2;
      throw Fault(turn == 0 ? FaultCode::source_unavailable : FaultCode::source_refused, Poisons::connection,
                  turn == 0   ? "away"
                  : turn == 1 ? "no such queue"
                              : "wrong password");
    }
    void settle(std::span<const Settlement>) override {}
    void wake() noexcept override {}
    std::optional<std::chrono::milliseconds> ack_timeout() const override { return std::nullopt; }
    SourceCounters counters() const override { return {}; }
    std::string describe() const override { return "changing"; }
    std::atomic<std::size_t> turn_ = 0;
  } source;
  const Declaration declaration;
  Handover handover(10);
  ConsumerTally tally;
  const Receiver receiver(source, declaration, handover, tally, log);
  const auto end = Clock::now() + 60s;
  while (source.turn_ < 6 && Clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(receiver.trouble(), "wrong password");
  EXPECT_EQ(log.text(),
            "the source is away  source_unavailable away\n"
            "the source is away  source_refused no such queue\n"
            "the source is away  source_refused wrong password\n");
}

}  // namespace
}  // namespace onceward
