#include "src/worker/outage.h"

#include <algorithm>

namespace onceward {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds longest{5'000};

// A race that was lost is run again at once; what lasts is asked for ever more rarely.
milliseconds delay_of(int tries) { return std::min(milliseconds(2) * (1 << std::min(tries, 12)), longest); }

// Races and short locks are daily life.
constexpr int tries_before_told = 5;

// What a person is to look for first; the fault tells the rest.
std::string_view told(const Fault& fault) {
  switch (fault.fault()) {
    case FaultCode::busy:
      return "somebody else holds a lock in the store; holding";
    case FaultCode::lost_race:
      return "every try loses a race in the store; holding";
    case FaultCode::store_full:
      return "the store is full; holding";
    case FaultCode::statement_failed:
    case FaultCode::constraint_violated:
      return "the store refuses what is ours; holding";
    default:
      return "the store is away; holding";
  }
}

}  // namespace

bool Outage::wait(const Fault& fault) {
  if (++tries_ == tries_before_told || (tries_ < tries_before_told && !fault.transient())) {
    tries_ = std::max(tries_, tries_before_told);
    tally_.outages.fetch_add(1, std::memory_order_relaxed);
    handover_.hold(true);
    const LogField fields[] = {{"consumer", consumer_}, {"fault", code(fault.fault())}, {"why", fault.what()}};
    log_.write(LogLevel::warn, told(fault), fields);
  }
  std::unique_lock lock(mutex_);
  if (tries_ >= tries_before_told) trouble_ = fault.what();
  const auto next = steady_clock::now() + delay_of(tries_);
  while (steady_clock::now() < std::min(next, give_up_at_)) changed_.wait_until(lock, std::min(next, give_up_at_));
  return steady_clock::now() < give_up_at_;
}

void Outage::over() {
  if (tries_ == 0) return;
  if (tries_ >= tries_before_told) {
    handover_.hold(false);
    const LogField fields[] = {{"consumer", consumer_}};
    log_.write(LogLevel::info, "the store works again", fields);
    const std::lock_guard lock(mutex_);
    trouble_.clear();
  }
  tries_ = 0;
}

void Outage::give_up_at(steady_clock::time_point when) {
  {
    const std::lock_guard lock(mutex_);
    give_up_at_ = std::min(give_up_at_, when);
  }
  changed_.notify_all();
}

bool Outage::given_up() const {
  const std::lock_guard lock(mutex_);
  return steady_clock::now() >= give_up_at_;
}

std::string Outage::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace onceward
