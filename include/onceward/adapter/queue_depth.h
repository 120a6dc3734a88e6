#pragma once

#include <cstdint>

namespace onceward {

struct QueueDepth {
  std::uint64_t ready = 0;      // can be received now
  std::uint64_t in_flight = 0;  // handed out, and neither settled nor past the ack timeout
  friend bool operator==(const QueueDepth&, const QueueDepth&) = default;
};

}  // namespace onceward
