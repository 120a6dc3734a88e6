// A source that stops the process at the points between its calls.
#pragma once

#include "tests/crash/forwarding_source.h"
#include "tests/crash/stopping_store.h"

namespace onceward::crash {

class StoppingSource final : public ForwardingSource {
 public:
  StoppingSource(Source& source, const StoppingStore& store, Stop& stop)
      : ForwardingSource(source), store_(store), stop_(stop) {}

  // Whether an acknowledgement is under way.
  bool settling() const { return settling_; }

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    ForwardingSource::receive(into, most, wait);
    if (into.empty() || !stop_.wants(Point::received)) return;
    const auto between = store_.between_units();
    stop_.reach(Point::received);
  }
  void settle(std::span<const Settlement> settlements) override {
    if (store_.duplicate_seen()) stop_.reach(Point::duplicate_seen);
    settling_ = true;
    ForwardingSource::settle(settlements);
    settling_ = false;
    stop_.reach(Point::acked);
  }

 private:
  const StoppingStore& store_;
  Stop& stop_;
  std::atomic<bool> settling_ = false;
};

}  // namespace onceward::crash
