// A real source some of whose acknowledgements get lost on the way: the message is given back instead, and comes again.
#pragma once

#include <memory>
#include <random>

#include "onceward/port/source.h"

namespace onceward::demo {

class LostAcks final : public Source {
 public:
  LostAcks(std::unique_ptr<Source> source, std::uint64_t seed) : source_(std::move(source)), chance_(seed) {}

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    source_->receive(into, most, wait);
  }
  void settle(std::span<const Settlement> settlements) override {
    sent_.assign(settlements.begin(), settlements.end());
    for (Settlement& settlement : sent_) {
      if (settlement.how == Settle::accept && chance_() % 100 < lost_of_100) settlement.how = Settle::redeliver;
    }
    source_->settle(sent_);
  }
  void wake() noexcept override { source_->wake(); }
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return source_->ack_timeout(); }
  SourceCounters counters() const override { return source_->counters(); }
  std::string describe() const override { return source_->describe(); }

 private:
  static constexpr std::uint64_t lost_of_100 = 30;

  const std::unique_ptr<Source> source_;
  std::mt19937_64 chance_;
  std::vector<Settlement> sent_;
};

}  // namespace onceward::demo
