// A source that hands everything on; what stands before another overrides what it disturbs.
#pragma once

#include "onceward/port/source.h"

namespace onceward::crash {

class ForwardingSource : public Source {
 public:
  explicit ForwardingSource(Source& source) : source_(source) {}

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    source_.receive(into, most, wait);
  }
  void settle(std::span<const Settlement> settlements) override { source_.settle(settlements); }
  void wake() noexcept override { source_.wake(); }
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return source_.ack_timeout(); }
  bool has_positions() const override { return source_.has_positions(); }
  SourceCounters counters() const override { return source_.counters(); }
  std::string describe() const override { return source_.describe(); }

 private:
  Source& source_;
};

}  // namespace onceward::crash
