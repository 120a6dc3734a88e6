#pragma once

#include <stop_token>

#include "apps/demo/run_directory.h"
#include "onceward/port/source.h"
#include "onceward/port/store.h"
#include "onceward/worker.h"

namespace onceward::demo {

// The consumer of many a client library's tutorial: takes messages, writes their effects, commits, and acknowledges last. It
// loses no message that it understands, and it has no idea which ones it has seen before.
void consume_naively(const Run& run, Store& store, Source& source, ConsumerTally& tally, std::stop_token stop);

}  // namespace onceward::demo
