#pragma once

#include "onceward/adapter/embedded.h"

namespace onceward::embedded {

// Throws Fault(source_refused) for what passes a limit.
void check(const EmbeddedOptions& options);

}  // namespace onceward::embedded
