#pragma once

#include "apps/demo/run_directory.h"

namespace onceward::demo {

// Sends the whole plan, in the order of the plan. What is sent stands in published.ndjson before it is sent, and what the
// queue has confirmed after. Throws Fault, std::runtime_error.
void generate(const Run& run);

}  // namespace onceward::demo
