// SQLite's own file layer with a word said around each sync of a write-ahead log: the only place from which the middle of
// a COMMIT can be seen. Registered as the default, for as long as the process lives.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace onceward::crash {

class StoppingFiles {
 public:
  enum class When : std::uint8_t { before, after };
  // Told the name of the log, from the thread that syncs it.
  using Told = std::function<void(When, std::string_view log)>;

  static void watch(Told told) {
    static StoppingFiles files;
    files.told_ = std::move(told);
    if (sqlite3_vfs_register(&files.vfs_, 1) != SQLITE_OK) throw std::runtime_error("sqlite3_vfs_register");
  }

 private:
  StoppingFiles() : real_(sqlite3_vfs_find(nullptr)) {
    if (real_ == nullptr) throw std::runtime_error("SQLite has no file layer");
    vfs_ = *real_;
    vfs_.szOsFile = real_->szOsFile + static_cast<int>(sizeof(const char*));
    vfs_.zName = "onceward-stopping";
    vfs_.pAppData = this;
    vfs_.xOpen = &StoppingFiles::open;
    vfs_.pNext = nullptr;
  }

  static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out) {
    auto& self = *static_cast<StoppingFiles*>(vfs->pAppData);
    const int result = self.real_->xOpen(self.real_, name, file, flags, out);
    if (result == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) self.take_over(file, name);
    return result;
  }
  // The logs of a process have one table of calls: ours is a copy with another sync. The name, which lives as long as the
  // file, stands behind the real file's data.
  void take_over(sqlite3_file* file, const char* name) {
    static sqlite3_io_methods methods;
    static StoppingFiles* self;
    self = this;
    sync_ = file->pMethods->xSync;
    methods = *file->pMethods;
    methods.xSync = [](sqlite3_file* log, int flags) { return self->sync(log, flags); };
    name_of(file) = name;
    file->pMethods = &methods;
  }
  int sync(sqlite3_file* log, int flags) {
    told_(When::before, name_of(log));
    const int result = sync_(log, flags);
    told_(When::after, name_of(log));
    return result;
  }
  const char*& name_of(sqlite3_file* file) const {
    return *reinterpret_cast<const char**>(reinterpret_cast<char*>(file) + real_->szOsFile);
  }

  Told told_;
  sqlite3_vfs* const real_;
  sqlite3_vfs vfs_{};
  int (*sync_)(sqlite3_file*, int) = nullptr;
};

}  // namespace onceward::crash
