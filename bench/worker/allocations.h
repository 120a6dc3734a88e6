// How often operator new was called, by any thread, while somebody wants to know.
#pragma once

#include <atomic>
#include <cstdint>

namespace onceward::bench {

inline std::atomic<bool> counting_allocations{false};
inline std::atomic<std::uint64_t> allocations{0};

}  // namespace onceward::bench
