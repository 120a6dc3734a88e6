// How much memory a worker takes over a long run: messages are made as the queue drains, none is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/work/report.h"

namespace onceward::bench {

struct MemoryRun {
  std::size_t messages = 2'000'000;
  std::size_t batch = 1000;
  std::string directory;  // of the SQLite file
};

struct MemoryMark {
  int percent = 0;  // of the messages, settled
  std::uint64_t resident_bytes = 0;
  std::uint64_t sqlite_bytes = 0;      // its page cache, 24 MB at most, and its statements
  std::uint64_t prefetched_bytes = 0;  // payloads and ids received and not settled
  std::uint64_t rest() const;
};

// Into SQLite by the batch handler, with ids that carry their time. To be called before SQLite is used by this process.
std::vector<MemoryMark> measure_memory(const MemoryRun& run, Progress& progress);
std::string to_string(const MemoryMark& mark);
std::vector<Bar> memory_bars(const std::vector<MemoryMark>& marks);

}  // namespace onceward::bench
