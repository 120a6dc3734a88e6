// Onceward's relay as `onceward relay` runs it, in one process or several: this program, executed again with hidden
// arguments. What they have done stands in memory that they share with us.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/work/shape.h"
#include "onceward/relay.h"

namespace onceward::bench {

struct RelayJob {
  std::string store;   // its URL
  std::string target;  // as BareBroker::target_url()
  bool ordered = false;
  bool native = false;  // without the attributes of a CloudEvent
  int page = 1'000;
};
// The relay's options, with one route to the target.
RelayOptions relay_options(const RelayJob& job);

class RelayProcesses {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts them; each tends its share of the keys from its beginning.
  RelayProcesses(const RelayJob& job, std::size_t count);
  ~RelayProcesses();  // kills those that still run
  RelayProcesses(const RelayProcesses&) = delete;
  RelayProcesses& operator=(const RelayProcesses&) = delete;

  // Waits until so many messages were confirmed; when that was. Throws if nothing more comes, or if one has ended.
  Clock::time_point await_published(std::uint64_t count);
  std::uint64_t published() const;
  std::uint64_t resident_bytes() const;
  // They drain and end. Throws unless all end well, and if something was refused; says what else has disturbed them.
  void stop();
  // Once they have ended.
  Effort effort() const;

  struct Shared;

 private:
  void start(const RelayJob& job);
  void start_all(const RelayJob& job, std::size_t count);
  void check_alive();

  int file_ = -1;
  Shared* shared_ = nullptr;
  std::vector<pid_t> processes_;
};

// The other side: works until SIGTERM. Called by main() for the hidden arguments.
int run_as_relay(const RelayJob& job, int shared_file);

}  // namespace onceward::bench
