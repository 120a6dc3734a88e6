// Received bytes as a delivery that has no tag yet.
#pragma once

#include "onceward/port/source.h"

namespace onceward {

// What cannot be read keeps its exact bytes as the payload, beside the refusal, and is unread.
Delivery read_delivery(const Bytes& bytes, const EnvelopeLimits& limits);

}  // namespace onceward
