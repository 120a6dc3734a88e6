// What the worker is held to, on one store.
#pragma once

#include <span>
#include <vector>

#include "bench/work/report.h"
#include "bench/work/rounds.h"
#include "bench/worker/cases.h"

namespace onceward::bench {

// The rows that a shape must have left, where no floor of the rounds did the same work.
using Expected = std::map<std::string, ContentsOf>;  // by the case's name
Expected expected_contents(Database& database, std::span<const WorkerCase> cases, const WorkerWorks& works,
                           std::size_t batch);

std::vector<Bar> worker_bars(const Database& database, std::span<const WorkerCase> cases, const Samples& samples,
                             const Expected& expected, std::size_t batch);

}  // namespace onceward::bench
