#include "bench/work/counting_vfs.h"

#include <sqlite3.h>

#include <atomic>
#include <cstdlib>
#include <vector>

namespace onceward::bench {
namespace {

std::atomic<std::uint64_t> wal_bytes, wal_syncs, other_syncs;

// Lies before the file of the VFS below, in the memory that SQLite allots to both.
struct CountingFile {
  sqlite3_file base;
  bool wal;
  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

CountingFile* counting(sqlite3_file* file) { return reinterpret_cast<CountingFile*>(file); }
sqlite3_file* below(sqlite3_file* file) { return counting(file)->below(); }
const sqlite3_io_methods* methods(sqlite3_file* file) { return below(file)->pMethods; }

int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  if (counting(file)->wal) wal_bytes.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
  return methods(file)->xWrite(below(file), bytes, count, offset);
}

int sync(sqlite3_file* file, int flags) {
  (counting(file)->wal ? wal_syncs : other_syncs).fetch_add(1, std::memory_order_relaxed);
  return methods(file)->xSync(below(file), flags);
}

int close(sqlite3_file* file) { return methods(file)->xClose(below(file)); }
int read(sqlite3_file* f, void* to, int n, sqlite3_int64 at) { return methods(f)->xRead(below(f), to, n, at); }
int truncate(sqlite3_file* f, sqlite3_int64 size) { return methods(f)->xTruncate(below(f), size); }
int size(sqlite3_file* f, sqlite3_int64* bytes) { return methods(f)->xFileSize(below(f), bytes); }
int lock(sqlite3_file* f, int level) { return methods(f)->xLock(below(f), level); }
int unlock(sqlite3_file* f, int level) { return methods(f)->xUnlock(below(f), level); }
int reserved(sqlite3_file* f, int* held) { return methods(f)->xCheckReservedLock(below(f), held); }
int control(sqlite3_file* f, int what, void* argument) { return methods(f)->xFileControl(below(f), what, argument); }
int sector(sqlite3_file* f) { return methods(f)->xSectorSize(below(f)); }
int device(sqlite3_file* f) { return methods(f)->xDeviceCharacteristics(below(f)); }
int shm_map(sqlite3_file* f, int page, int bytes, int extend, volatile void** at) {
  return methods(f)->xShmMap(below(f), page, bytes, extend, at);
}
int shm_lock(sqlite3_file* f, int from, int n, int flags) { return methods(f)->xShmLock(below(f), from, n, flags); }
void shm_barrier(sqlite3_file* f) { methods(f)->xShmBarrier(below(f)); }
int shm_unmap(sqlite3_file* f, int remove) { return methods(f)->xShmUnmap(below(f), remove); }
int fetch(sqlite3_file* f, sqlite3_int64 at, int n, void** to) { return methods(f)->xFetch(below(f), at, n, to); }
int unfetch(sqlite3_file* f, sqlite3_int64 at, void* page) { return methods(f)->xUnfetch(below(f), at, page); }

constexpr sqlite3_io_methods counting_methods = {3,        close,       read,      write,   truncate, sync,   size,
                                                 lock,     unlock,      reserved,  control, sector,   device, shm_map,
                                                 shm_lock, shm_barrier, shm_unmap, fetch,   unfetch};

int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* opened) {
  auto* const original = static_cast<sqlite3_vfs*>(vfs->pAppData);
  counting(file)->wal = (flags & SQLITE_OPEN_WAL) != 0;
  const int code = original->xOpen(original, path, below(file), flags, opened);
  // Without methods SQLite does not close what failed to open.
  file->pMethods = below(file)->pMethods == nullptr ? nullptr : &counting_methods;
  return code;
}

}  // namespace

void install_counting_vfs() {
  static sqlite3_vfs counting_vfs;
  if (counting_vfs.zName != nullptr) return;
  sqlite3_vfs* const original = sqlite3_vfs_find(nullptr);
  counting_vfs = *original;
  counting_vfs.pNext = nullptr;
  counting_vfs.zName = "onceward-counting";
  counting_vfs.pAppData = original;
  counting_vfs.szOsFile = original->szOsFile + static_cast<int>(sizeof(CountingFile));
  counting_vfs.xOpen = open;
  // The other functions of SQLite's VFS take their own state from the process, not from their first argument.
  if (sqlite3_vfs_register(&counting_vfs, 1) != SQLITE_OK) std::abort();
}

VfsCounts vfs_counts() { return {wal_bytes.load(), wal_syncs.load(), other_syncs.load()}; }

}  // namespace onceward::bench
