// Compares what was published with what is there, line by line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/checker/calls.h"
#include "apps/checker/evidence.h"
#include "apps/checker/lines.h"
#include "apps/checker/published.h"

namespace checker {

struct Proof {
  std::vector<Line> lines;
  std::int64_t published = 0, distinct = 0, conflicts = 0, poison = 0;
  std::int64_t effects = 0, lost = 0, doubled = 0, crashes = 0, restarts = 0;
  CallCounts calls;
  bool ok = false;  // every line is
};

Proof prove(const Published& published, const Evidence& evidence, const Run& run);

}  // namespace checker
