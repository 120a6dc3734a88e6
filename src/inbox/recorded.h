// An outcome as the inbox keeps it.
#pragma once

#include "onceward/outcome.h"

namespace onceward {

Recorded recorded_of(Outcome outcome);

}  // namespace onceward
