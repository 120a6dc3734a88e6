#include "tests/faults/faulty_vfs.h"

#include <cstring>
#include <new>
#include <stdexcept>

namespace onceward::faults {

// Our file, followed in memory by the real one.
struct FaultyFile {
  sqlite3_file base;
  FaultyVfs* owner;
  bool is_log;

  static FaultyFile* of(sqlite3_file* file) { return reinterpret_cast<FaultyFile*>(file); }
  static sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(of(file) + 1); }
  static const sqlite3_io_methods& calls(sqlite3_file* file) { return *real(file)->pMethods; }

  static int close(sqlite3_file* f) { return calls(f).xClose(real(f)); }
  static int read(sqlite3_file* f, void* to, int n, sqlite3_int64 at) { return calls(f).xRead(real(f), to, n, at); }
  static int write(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
    if (of(f)->is_log) {
      if (const int result = of(f)->owner->answer(FaultyVfs::Call::write); result != SQLITE_OK) return result;
    }
    return calls(f).xWrite(real(f), from, n, at);
  }
  static int truncate(sqlite3_file* f, sqlite3_int64 n) { return calls(f).xTruncate(real(f), n); }
  static int sync(sqlite3_file* f, int flags) {
    if (of(f)->is_log) {
      if (const int result = of(f)->owner->answer(FaultyVfs::Call::sync); result != SQLITE_OK) return result;
    }
    return calls(f).xSync(real(f), flags);
  }
  static int size(sqlite3_file* f, sqlite3_int64* n) { return calls(f).xFileSize(real(f), n); }
  static int lock(sqlite3_file* f, int level) { return calls(f).xLock(real(f), level); }
  static int unlock(sqlite3_file* f, int level) { return calls(f).xUnlock(real(f), level); }
  static int check_lock(sqlite3_file* f, int* out) { return calls(f).xCheckReservedLock(real(f), out); }
  static int control(sqlite3_file* f, int op, void* arg) { return calls(f).xFileControl(real(f), op, arg); }
  static int sector(sqlite3_file* f) { return calls(f).xSectorSize(real(f)); }
  static int device(sqlite3_file* f) { return calls(f).xDeviceCharacteristics(real(f)); }
  static int shm_map(sqlite3_file* f, int page, int size_, int extend, volatile void** to) {
    return calls(f).xShmMap(real(f), page, size_, extend, to);
  }
  static int shm_lock(sqlite3_file* f, int at, int n, int flags) { return calls(f).xShmLock(real(f), at, n, flags); }
  static void shm_barrier(sqlite3_file* f) { calls(f).xShmBarrier(real(f)); }
  static int shm_unmap(sqlite3_file* f, int remove) { return calls(f).xShmUnmap(real(f), remove); }

  static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out) {
    static const sqlite3_io_methods methods{2,        close,       read,       write,   truncate, sync,   size,
                                            lock,     unlock,      check_lock, control, sector,   device, shm_map,
                                            shm_lock, shm_barrier, shm_unmap,  nullptr, nullptr};
    auto* const owner = static_cast<FaultyVfs*>(vfs->pAppData);
    auto* const ours = new (file) FaultyFile{{nullptr}, owner, (flags & SQLITE_OPEN_WAL) != 0};
    const int result = owner->real_->xOpen(owner->real_, name, real(file), flags, out);
    if (result == SQLITE_OK) ours->base.pMethods = &methods;
    return result;
  }
};

FaultyVfs::FaultyVfs() : real_(sqlite3_vfs_find(nullptr)) {
  if (real_ == nullptr) throw std::runtime_error("SQLite has no file layer");
  vfs_ = *real_;
  vfs_.szOsFile = static_cast<int>(sizeof(FaultyFile)) + real_->szOsFile;
  vfs_.zName = "onceward-faulty";
  vfs_.pAppData = this;
  vfs_.xOpen = &FaultyFile::open;
  vfs_.pNext = nullptr;
  if (sqlite3_vfs_register(&vfs_, 1) != SQLITE_OK) throw std::runtime_error("sqlite3_vfs_register");
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(real_, 1);
}

void FaultyVfs::fail(Call call, int result, int nth, int times) {
  call_ = Call::none;
  result_ = result;
  skip_ = nth;
  times_ = times;
  call_ = call;
}

int FaultyVfs::answer(Call call) {
  if (call_ != call) return SQLITE_OK;
  if (skip_ > 0) {
    --skip_;
    return SQLITE_OK;
  }
  if (times_ <= 0) return SQLITE_OK;
  --times_;
  ++failed_;
  return result_;
}

}  // namespace onceward::faults
