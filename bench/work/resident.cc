#include "bench/work/resident.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace onceward::bench {

constexpr double most_growth_mebibytes = 4;

std::uint64_t resident_bytes(pid_t process) {
  const std::string path = fmt::format("/proc/{}/statm", process);
  std::ifstream file(path);
  std::uint64_t size = 0, resident = 0;
  if (!(file >> size >> resident)) throw std::runtime_error(path + " cannot be read");
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Bar growth_bar(const Growth& growth) {
  const double mebibytes =
      (static_cast<double>(growth.bytes_after) - static_cast<double>(growth.bytes_before)) / mebibyte;
  return {fmt::format("memory: {:+.1f} MB from {} % to {} % ({} or less)", mebibytes, growth.from, growth.to,
                      most_growth_mebibytes),
          mebibytes <= most_growth_mebibytes, true};
}

}  // namespace onceward::bench
