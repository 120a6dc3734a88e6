// What a relay says while the store is away, and how long it waits before it tries again: a fault that passes is not worth
// a word. Told by the thread that owns the store, asked by any.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "onceward/fault.h"
#include "onceward/log.h"
#include "onceward/relay.h"

namespace onceward::relay {

class StoreOutage {
 public:
  StoreOutage(RelayTally& tally, Log& log) : tally_(tally), log_(log) {}

  // How long to wait, ever longer.
  std::chrono::milliseconds goes_on(const Fault& fault);
  void over();
  std::string trouble() const;  // empty while there is none

 private:
  RelayTally& tally_;
  Log& log_;
  int tries_ = 0;

  mutable std::mutex mutex_;
  std::string trouble_;
};

}  // namespace onceward::relay
