#include "apps/demo/shared_tally.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace onceward::demo {

// All bits zero are counters at zero, and counters without a lock work across processes.
static_assert(ConsumerTally::Count::is_always_lock_free && DispatchTally::Count::is_always_lock_free);

SharedTally::SharedTally(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* memory = MAP_FAILED;
  if (file >= 0 && ::ftruncate(file, sizeof(Tallies)) == 0) {
    memory = ::mmap(nullptr, sizeof(Tallies), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (memory == MAP_FAILED) throw std::system_error(error, std::generic_category(), path);
  tallies_ = static_cast<Tallies*>(memory);
}

SharedTally::~SharedTally() { ::munmap(tallies_, sizeof(Tallies)); }

}  // namespace onceward::demo
