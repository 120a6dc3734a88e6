// What a turn of the dispatcher reads, decides and writes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/dispatch/ledger.h"
#include "src/dispatch/policy.h"

namespace onceward::dispatch {

// What it has read, under locks until the unit ends.
struct Found {
  std::unique_ptr<UnitOfWork> unit;
  std::vector<Standing> ours;  // where some are to be given back
  Ledger::Found ledger;
};

// A request that is marked, and begins when there is room.
struct Start {
  Step step;
  Content content;
  std::string external_ref;
  std::chrono::steady_clock::time_point looked_at{};
};

// What its unit writes, and what follows when that is committed.
struct Turn {
  std::chrono::steady_clock::time_point began{};
  std::uint64_t left = 0;  // what was left by then is given back by it
  std::vector<Change> changes{};
  std::vector<Beginning> beginnings{};
  std::vector<Ending> endings{};
  std::vector<Start> starts{};
  std::uint64_t fenced = 0, expired = 0, waiting = 0;
};

}  // namespace onceward::dispatch
