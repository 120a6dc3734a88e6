// A source that does not count deliveries, as one that was just given a partition: any message may have been delivered
// before.
#pragma once

#include "tests/crash/forwarding_source.h"

namespace onceward::crash {

class ForgetfulSource final : public ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    ForwardingSource::receive(into, most, wait);
    for (Delivery& delivery : into) {
      delivery.deliveries = 0;
      delivery.redelivered = true;
    }
  }
};

}  // namespace onceward::crash
