// A source that a bench looks at: what arrives, and when the last of it was settled. The contract is that of the source it
// is put before.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "onceward/port/source.h"

namespace onceward::bench {

class WatchedSource final : public Source {
 public:
  using Clock = std::chrono::steady_clock;
  struct Hooks {
    std::function<void(std::size_t most)> before_receive{};  // all on the source's thread
    std::function<void(std::span<const Delivery>)> arrived{};
    std::function<void(std::span<const Settlement>)> settling{};
  };

  WatchedSource(std::unique_ptr<Source> source, Hooks hooks) : source_(std::move(source)), hooks_(std::move(hooks)) {}

  // Waits until `count` deliveries were settled; when that was. Throws if it takes longer than `deadline`.
  Clock::time_point await_settled(std::uint64_t count, std::chrono::seconds deadline);
  std::uint64_t received() const { return received_.load(std::memory_order_relaxed); }
  std::uint64_t settled() const { return settled_.load(std::memory_order_relaxed); }

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override;
  void settle(std::span<const Settlement> settlements) override;
  void wake() noexcept override { source_->wake(); }
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return source_->ack_timeout(); }
  bool has_positions() const override { return source_->has_positions(); }
  SourceCounters counters() const override { return source_->counters(); }
  std::string describe() const override { return source_->describe(); }

 private:
  const std::unique_ptr<Source> source_;
  const Hooks hooks_;
  std::atomic<std::uint64_t> received_{0}, settled_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point last_{};  // when something was settled
};

}  // namespace onceward::bench
