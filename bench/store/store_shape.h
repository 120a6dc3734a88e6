// The work through Onceward's Store: identify, claim, effects over the whole batch, staging, commit.
#pragma once

#include <memory>

#include "bench/work/shape.h"
#include "onceward/declaration.h"
#include "onceward/port/store.h"

namespace onceward::bench {

// The consumer of the work; its key scheme follows the ids.
Declaration declaration_of(Ids ids);

// From ready envelopes, or from the bytes of our JSON envelope, parsed inside the run.
enum class From : std::uint8_t { envelopes, json };

std::unique_ptr<Shape> store_shape(std::unique_ptr<Store> store, const Workload& work, From from = From::envelopes);

}  // namespace onceward::bench
