// Limits on what others decide the size of.
#pragma once

#include <chrono>
#include <cstddef>

namespace onceward {

// Of messages that are held in memory together: once there are so many bytes of payload, no more are asked for.
inline constexpr std::size_t most_bytes_together = 16u << 20;

// Whoever wants to wait for ever waits so long.
inline constexpr std::chrono::milliseconds longest_wait = std::chrono::hours(24);

}  // namespace onceward
