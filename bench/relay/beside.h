// What goes on in a database beside a relay, and must not slow it down.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/relay/shapes.h"
#include "bench/work/report.h"

namespace onceward::bench {

// Somebody holds a REPEATABLE READ snapshot from before the run: no dead row can be removed meanwhile. Adds those that
// there are at the end to `into`.
std::unique_ptr<Beside> held_snapshot(const RelayBench& bench, std::vector<DeadRows>& into);
// None in the outbox; elsewhere no more than moves and ticks that have been forgotten, and leases.
std::vector<Bar> dead_row_bars(const DeadRows& dead, std::size_t messages, std::size_t page);

// Somebody has staged the last of these messages, and neither commits nor rolls back. Throws if it arrives before the
// commit; after the run it commits and waits for it.
std::unique_ptr<Beside> open_writer(const RelayBench& bench, std::span<const Index> messages);

}  // namespace onceward::bench
