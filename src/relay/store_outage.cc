#include "src/relay/store_outage.h"

#include <algorithm>

namespace onceward::relay {
namespace {

constexpr std::chrono::milliseconds first_wait{10}, longest_wait{5'000};
constexpr int worth_a_word = 3;  // tries

}  // namespace

std::chrono::milliseconds StoreOutage::goes_on(const Fault& fault) {
  if (tries_++ == 0 && !fault.transient()) tries_ = worth_a_word;
  if (tries_ == worth_a_word) {
    tally_.store_outages.fetch_add(1, std::memory_order_relaxed);
    const LogField fields[] = {{"fault", code(fault.fault())}, {"why", fault.what()}};
    log_.write(LogLevel::warn, "the relay waits for the store", fields);
  }
  if (tries_ >= worth_a_word) {
    const std::lock_guard lock(mutex_);
    trouble_ = fault.what();
  }
  return std::min(first_wait * (1 << std::min(tries_ - 1, 10)), longest_wait);
}

void StoreOutage::over() {
  if (tries_ == 0) return;
  if (tries_ >= worth_a_word) log_.write(LogLevel::info, "the relay has the store again", {});
  tries_ = 0;
  const std::lock_guard lock(mutex_);
  trouble_.clear();
}

std::string StoreOutage::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace onceward::relay
