// The thread that owns the source: receives ahead of the store's thread and settles behind it. It never waits for a
// handler: settling, and what a client library does by itself, go on while one is slow.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "onceward/worker.h"
#include "src/worker/handover.h"

namespace onceward {

class Receiver {
 public:
  Receiver(Source& source, const Declaration& declaration, Handover& handover, ConsumerTally& tally, Log& log);
  // Settles what is left, and ends.
  ~Receiver();

  std::string trouble() const;

 private:
  using Clock = std::chrono::steady_clock;

  void work(std::stop_token stop);
  void receive(std::size_t room);
  bool resting() const { return Clock::now() < receive_at_; }
  void rest(std::stop_token stop) const;
  void tend();
  void identify_all();
  void settle(const std::vector<Settlement>& settlements);
  void count();
  void went_wrong(const Fault& fault);
  void went_well();

  Source& source_;
  const Declaration& declaration_;
  Handover& handover_;
  ConsumerTally& tally_;
  Log& log_;

  Arrivals received_;  // of the thread
  SourceCounters counted_;
  int failures_ = 0;
  std::string said_refusal_;        // of these tries, the last that was logged
  Clock::time_point receive_at_{};  // after a fault

  mutable std::mutex mutex_;
  std::string trouble_;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace onceward
