// A source that stops the process at the points between its calls.
#pragma once

#include "onceward/port/source.h"
#include "tests/crash/stopping_store.h"

namespace onceward::crash {

class StoppingSource final : public Source {
 public:
  StoppingSource(Source& source, const StoppingStore& store, Stop& stop)
      : source_(source), store_(store), stop_(stop) {}

  // Whether an acknowledgement is under way.
  bool settling() const { return settling_; }

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    source_.receive(into, most, wait);
    if (!into.empty()) stop_.reach(Point::received);
  }
  void settle(std::span<const Settlement> settlements) override {
    if (store_.duplicate_seen()) stop_.reach(Point::duplicate_seen);
    settling_ = true;
    source_.settle(settlements);
    settling_ = false;
    stop_.reach(Point::acked);
  }
  void wake() noexcept override { source_.wake(); }
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return source_.ack_timeout(); }
  SourceCounters counters() const override { return source_.counters(); }
  std::string describe() const override { return source_.describe(); }

 private:
  Source& source_;
  const StoppingStore& store_;
  Stop& stop_;
  std::atomic<bool> settling_ = false;
};

}  // namespace onceward::crash
