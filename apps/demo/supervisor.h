// Runs the generator and the workers of a run, and those who call the gateway; kills workers and a broker at moments that the seed
// decides, and starts others in their place, until the queue is empty and nothing waits or is to be called. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/demo/callers.h"
#include "apps/demo/child.h"
#include "apps/demo/crashes.h"
#include "apps/demo/interruption.h"
#include "apps/demo/progress.h"
#include "apps/demo/queue.h"
#include "apps/demo/run_directory.h"
#include "apps/demo/shared_tally.h"
#include "onceward/port/store.h"

namespace onceward::demo {

struct Supervised {
  std::uint64_t deliveries = 0, duplicates = 0;
  int killed = 0;    // by us
  int aborted = 0;   // by a message
  int others = 0;    // ended by themselves, and not because we had asked
  int restarts = 0;  // of the broker
  int gateways_killed = 0, dispatchers_killed = 0;
  bool interrupted = false;
  std::string trouble;  // why it was given up; empty: it came to its end
};

class Supervisor {
 public:
  // The tables are there. All must outlive this object.
  Supervisor(const Run& run, Store& store, Queue& queue);
  // All processes are gone on return, also by a throw. Throws Fault, std::system_error.
  Supervised supervise(const Interruption& interruption, Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  Standing standing();
  Child start_worker(int number) const;
  void look_after_workers();
  void note(int number, pid_t pid, const Ending& ending);
  void kill_some();
  void look_after_callers();
  bool generated();
  bool at_the_end();
  bool all_is_done();
  bool quiet() const;
  bool stuck() const;
  bool nothing_waits();
  void stop_workers();

  const Run& run_;
  Store& store_;
  Enrolled consumer_;
  SharedTally tally_;
  Queue& queue_;
  Crashes crashes_;
  Callers callers_;

  std::vector<std::uint64_t> kill_at_;  // deliveries, falling: the next one is the last
  std::vector<std::size_t> victims_;
  std::vector<Child> workers_;
  Child generator_;
  bool generated_ = false;
  std::optional<std::uint64_t> queued_;
  std::uint64_t last_effects_ = 0, last_deliveries_ = 0;
  Clock::time_point last_effect_, last_delivery_, look_at_queue_;
  int aborted_then_ = 0;  // by a message, at the last effect
  Supervised so_far_;
};

}  // namespace onceward::demo
