#include "src/worker/receiver.h"

#include <algorithm>
#include <condition_variable>

#include "src/worker/tally.h"

namespace onceward {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_wait{1'000};  // for room, for a message, and before the connection is tended
constexpr milliseconds first_pause{50}, longest_pause{10'000};

}  // namespace

Receiver::Receiver(Source& source, const Declaration& declaration, Handover& handover, ConsumerTally& tally, Log& log)
    : source_(source),
      declaration_(declaration),
      handover_(handover),
      tally_(tally),
      log_(log),
      counted_(source.counters()),
      thread_([this](std::stop_token stop) { work(stop); }) {}

Receiver::~Receiver() {
  thread_.request_stop();
  handover_.end();
  source_.wake();
}

void Receiver::work(std::stop_token stop) {
  for (;;) {
    if (resting()) rest(stop);
    const bool ending = stop.stop_requested();
    const Handover::Due due = handover_.wait_for_room(ending || resting() ? milliseconds(0) : longest_wait);
    if (!due.settlements.empty()) settle(due.settlements);
    count();
    if (ending) return;
    resting() || due.room == 0 ? tend() : receive(due.room);
  }
}

void Receiver::rest(std::stop_token stop) const {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_until(lock, stop, std::min(receive_at_, Clock::now() + longest_wait), [] { return false; });
}

void Receiver::tend() {
  try {
    source_.receive(received_.deliveries, 0, milliseconds(0));
  } catch (const Fault& fault) {
    went_wrong(fault);
  }
}

void Receiver::receive(std::size_t room) {
  try {
    source_.receive(received_.deliveries, room, longest_wait);
    went_well();
  } catch (const Fault& fault) {
    went_wrong(fault);
    receive_at_ = Clock::now() + std::min(first_pause * (1 << std::min(failures_, 10)), longest_pause);
  }
  if (received_.empty()) return;
  identify_all();
  handover_.deliver(received_);
}

void Receiver::identify_all() {
  for (const Delivery& delivery : received_.deliveries) {
    const Position* const position = delivery.position ? &*delivery.position : nullptr;
    received_.identities.push_back(delivery.refusal ? Identified(*delivery.refusal)
                                                    : identify(delivery.envelope, declaration_, position));
  }
}

// What is not confirmed comes back, and is a duplicate then.
void Receiver::settle(const std::vector<Settlement>& settlements) {
  try {
    source_.settle(settlements);
  } catch (const Fault& fault) {
    went_wrong(fault);
  }
}

// A source may hear of a settlement later, or settle by itself.
void Receiver::count() {
  const SourceCounters now = source_.counters();
  bump(tally_.settled, now.settled - counted_.settled);
  bump(tally_.settle_failed, now.settle_failed - counted_.settle_failed);
  counted_ = now;
}

// Logged once for all the tries, and once more whenever somebody has to help with something else.
void Receiver::went_wrong(const Fault& fault) {
  const bool needs_help = fault.fault() == FaultCode::source_refused;
  const bool first = failures_++ == 0;
  {
    const std::lock_guard lock(mutex_);
    trouble_ = fault.what();
  }
  if (!first && (!needs_help || said_refusal_ == fault.what())) return;
  if (needs_help) said_refusal_ = fault.what();
  if (first) bump(tally_.source_outages);
  const LogField fields[] = {{"consumer", declaration_.name}, {"fault", code(fault.fault())}, {"why", fault.what()}};
  log_.write(LogLevel::warn, "the source is away", fields);
}

void Receiver::went_well() {
  if (failures_ == 0) return;
  failures_ = 0;
  said_refusal_.clear();
  const LogField fields[] = {{"consumer", declaration_.name}};
  log_.write(LogLevel::info, "the source is back", fields);
  const std::lock_guard lock(mutex_);
  trouble_.clear();
}

std::string Receiver::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace onceward
