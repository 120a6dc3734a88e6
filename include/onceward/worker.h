// The worker: takes messages from a source, lets a handler apply each one's effect once in a store, acknowledges last.
//
// One worker is two threads: the caller's, which owns the store and runs the handler, and one of its own, which owns the
// source. Faster means more workers, each with a store and a source of its own.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "onceward/declaration.h"
#include "onceward/handler.h"
#include "onceward/log.h"
#include "onceward/port/source.h"
#include "onceward/port/store.h"

namespace onceward {

// Durations by upper bound in seconds; the last is above all bounds.
struct Durations {
  using Count = std::atomic<std::uint64_t>;
  static constexpr std::array<double, 10> bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5};
  std::array<Count, bounds.size() + 1> counts{};
  Count microseconds{};
};

// What the workers of one consumer have done since the process began; written by them, read by anybody.
struct ConsumerTally {
  using Count = std::atomic<std::uint64_t>;
  Count received{}, redelivered{};
  // By verdict. `refused` had no usable identity and was parked.
  Count first{}, duplicate{}, business_duplicate{}, conflict{}, held{}, fenced{}, refused{};
  // Outcomes of those that were first or came back from our store.
  Count processed{}, ignored{}, rejected{}, retried{}, quarantined{};
  // Attempts that ended in the message's own failure: by what the handler returned or threw, by a statement or a row that
  // the store refused, by a field that is missing or ill-typed, by the end of every worker it was given to.
  Count returned{}, thrown{}, statement{}, field{}, deadly{};
  Count alone{};   // messages that ran by themselves, since one of them may have ended a worker
  Count reruns{};  // transactions that had to be run again
  Count in_doubt{}, outages{};
  Count settled{}, settle_failed{}, source_outages{};
  std::array<Count, 6> by_mode{};  // of what was claimed; in the order of Mode
  Durations claim, effect, batch;  // of whole batches; `batch` from the claim to the commit
};

// The process ends with this code when a handler passes twice its time bound.
inline constexpr int exit_time_bound = 7;

class Worker {
 public:
  // Enrolls the consumer. All but the handler must outlive the worker; store and source are this worker's alone. Throws
  // Fault, and std::invalid_argument where the declaration has mistakes, or a time bound that the source would not wait for.
  Worker(const Declaration& declaration, Handler handler, Store& store, Source& source, ConsumerTally& tally,
         Log& log = silent_log());
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Works until `stop` is asked for; then finishes what it holds, for no longer than `drain`, and gives back the rest.
  // While the database or the source is away it waits and tries again. Throws Fault only for what poisons the process.
  void run(std::stop_token stop, std::chrono::milliseconds drain = std::chrono::seconds(30));

  // Why it waits; empty while it works. From any thread.
  std::string trouble() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace onceward
