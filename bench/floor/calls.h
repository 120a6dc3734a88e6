// The calls by hand: libcurl's multi interface in one loop, one handle for each call under way, nothing written down.
#pragma once

#include <memory>

#include "bench/dispatch/calls.h"
#include "bench/work/shape.h"

namespace onceward::bench {

// Any answer but 200 prints itself and aborts.
std::unique_ptr<Shape> bare_calls(const CallOptions& options, const Workload& work);

}  // namespace onceward::bench
