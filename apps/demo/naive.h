#pragma once

#include <stop_token>

#include "apps/demo/run_directory.h"
#include "apps/demo/shared_tally.h"
#include "onceward/port/source.h"
#include "onceward/port/store.h"

namespace onceward::demo {

// The consumer of many a client library's tutorial: takes messages, calls the gateway, writes their effects, commits, and
// acknowledges last. It loses no message that it understands, and it has no idea which ones it has seen before.
void consume_naively(const Run& run, Store& store, Source& source, SharedTally& tallies, std::stop_token stop);

}  // namespace onceward::demo
