// The memory of a process over a long run.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "bench/work/report.h"

namespace onceward::bench {

inline constexpr double mebibyte = 1024.0 * 1024.0;

std::uint64_t resident_bytes(pid_t process);
// From one share of the run to another, in percent.
struct Growth {
  int from = 0, to = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;
};
Bar growth_bar(const Growth& growth);

}  // namespace onceward::bench
