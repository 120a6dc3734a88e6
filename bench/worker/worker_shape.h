// The work through a whole worker, from a queue in memory that was filled before the clock starts. The clock stops when the
// last delivery is acknowledged, so every message that can succeed is committed then. Retries cost what they cost until
// then, as they come due.
#pragma once

#include <functional>
#include <memory>

#include "bench/work/shape.h"
#include "onceward/declaration.h"
#include "onceward/handler.h"
#include "onceward/port/store.h"

namespace onceward::bench {

struct Job {
  Declaration declaration;
  std::function<Handler(const Workload&)> handler;
};
// The consumer of the work, without fields.
Job job_of(Ids ids, std::function<Handler(const Workload&)> handler);

// What a profiler wants to know of: the beginning and the end of the measured time.
struct Measuring {
  std::function<void()> begins{}, ends{};
};

std::unique_ptr<Shape> worker_shape(std::unique_ptr<Store> store, const Workload& work, const Job& job,
                                    const Measuring& measuring = {});

}  // namespace onceward::bench
