// A VFS between SQLite and its own that counts what reaches the disk, for every connection of the process.
#pragma once

#include <cstdint>

namespace onceward::bench {

struct VfsCounts {
  std::uint64_t wal_bytes = 0;  // written to write-ahead logs: frames of a page and 24 bytes
  std::uint64_t wal_syncs = 0;
  std::uint64_t other_syncs = 0;  // of the database, at checkpoints
};

// Makes it the default VFS; again is harmless.
void install_counting_vfs();
VfsCounts vfs_counts();

}  // namespace onceward::bench
