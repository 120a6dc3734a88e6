// Onceward's dispatcher in a process of its own: this program, executed again with hidden arguments.
#pragma once

#include <cstdint>
#include <string>

#include "bench/dispatch/calls.h"
#include "bench/dispatch/child.h"
#include "onceward/dispatcher.h"

namespace onceward::bench {

struct DispatchJob {
  std::string store;  // its URL
  CallOptions calls;
  double rate = 0;
  std::chrono::milliseconds circuit_pause{1'000};
};
EndpointDeclaration declared(const DispatchJob& job);

class DispatchProcess {
 public:
  explicit DispatchProcess(const DispatchJob& job);

  const DispatchTally& tally() const { return *tally_; }
  std::uint64_t resident_bytes() const;
  void check_alive() const { child_.check_alive(); }
  // It drains and ends. Throws unless that was well.
  void stop() { child_.stop(); }

 private:
  const Shared<DispatchTally> tally_;
  Child child_;
};

// The other side: works until SIGTERM. Called by main() for the hidden arguments.
int run_as_dispatcher(const DispatchJob& job, int tally_file);

}  // namespace onceward::bench
