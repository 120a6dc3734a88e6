// What a worker does while the database is away or somebody is in its way there: receives nothing more, holds what it has,
// tries again ever more slowly, and says why.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "onceward/worker.h"
#include "src/worker/handover.h"

namespace onceward {

class Outage {
 public:
  Outage(Handover& handover, ConsumerTally& tally, Log& log, std::string consumer)
      : handover_(handover), tally_(tally), log_(log), consumer_(std::move(consumer)) {}

  // Waits before the next try; false when there shall be none.
  bool wait(const Fault& fault);
  // A transaction went through.
  void over();

  // From any thread: no more waiting after `when`.
  void give_up_at(std::chrono::steady_clock::time_point when);
  bool given_up() const;
  std::string trouble() const;

 private:
  Handover& handover_;
  ConsumerTally& tally_;
  Log& log_;
  const std::string consumer_;

  int tries_ = 0;  // of the store's thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::steady_clock::time_point give_up_at_ = std::chrono::steady_clock::time_point::max();
  std::string trouble_;
};

}  // namespace onceward
