// The ways to make the calls, and what is known of each run when it is over. Each run has a server of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/dispatch/calls.h"
#include "bench/dispatch/server.h"
#include "bench/work/database.h"
#include "bench/work/report.h"
#include "bench/work/shape.h"

namespace onceward::bench {

// Of one run.
struct CallsMade {
  std::uint64_t requests = 0, repeated = 0, connections = 0, bytes = 0;  // by the server
  LedgerCount ledger;                                                    // of Onceward's
  std::uint64_t transactions = 0, round_trips = 0;
};

struct DispatchBench {
  Database& database;
  const Workload& work;
  std::size_t concurrency = 16;
};

std::unique_ptr<Shape> floor_shape(const DispatchBench& bench, CalledKind kind, std::vector<CallsMade>& into);
// Onceward's dispatcher with its HTTP endpoint, over calls that are staged.
std::unique_ptr<Shape> onceward_shape(const DispatchBench& bench, CalledKind kind, std::vector<CallsMade>& into);

}  // namespace onceward::bench
