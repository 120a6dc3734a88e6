// SQLite's own file layer with faults in it, registered as the default while it lives: the store does not know.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace onceward::faults {

class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  enum class Call : std::uint8_t { none, write, sync };
  // From now on the `nth` (from 0) such call on the write-ahead log answers `result`, and so do `times - 1` after it.
  void fail(Call call, int result, int nth = 0, int times = 1);
  void heal() { fail(Call::none, SQLITE_OK); }
  int failed() const { return failed_; }

 private:
  friend struct FaultyFile;
  int answer(Call call);  // SQLITE_OK: let it through

  std::atomic<Call> call_{Call::none};
  std::atomic<int> result_{SQLITE_OK};
  std::atomic<int> skip_{0};
  std::atomic<int> times_{0};
  std::atomic<int> failed_{0};
  sqlite3_vfs vfs_{};
  sqlite3_vfs* real_;
};

}  // namespace onceward::faults
