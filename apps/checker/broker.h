// What a real broker says of itself, by its own tools: rabbitmqctl on a quorum queue, and Kafka's ConsumerGroupCommand.
#pragma once

#include <cstdint>
#include <string>

#include "apps/checker/evidence.h"

namespace checker {

// Messages that nobody has accepted for good: ready or with somebody, or behind what the group has committed. Throws
// std::runtime_error where the broker does not answer.
std::int64_t left_in_broker(const Run& run);

}  // namespace checker
