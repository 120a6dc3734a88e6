#include "adapters/sqlite/library.h"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "onceward/fault.h"

namespace onceward::sqlite {

std::string version_text(int number) {
  return fmt::format("{}.{}.{}", number / 1'000'000, number / 1'000 % 1'000, number % 1'000);
}

bool is_network_file_system(long magic) {
  constexpr std::array<unsigned long, 8> magics{
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x01021997,  // 9p
      0x5346414F,  // AFS
      0x00C36400,  // Ceph
      0x564C,      // NCP
  };
  // The kernel's field is signed on some machines, the numbers are 32 bits on all.
  return std::find(magics.begin(), magics.end(), static_cast<unsigned long>(magic) & 0xFFFFFFFFul) != magics.end();
}

void check_place(const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    throw Fault(FaultCode::store_refused, Poisons::connection, fmt::format("cannot open {}: {}", path, why));
  };
  if (path.empty() || path.front() == ':')
    refuse("the store needs the path of a file; memory does not survive a crash");
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse("it is a directory; name a file inside it");
  std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) directory = ".";
  if (!std::filesystem::is_directory(directory, error)) {
    refuse(fmt::format("the directory {} does not exist; create it", directory.string()));
  }
  struct statfs about{};
  if (statfs(directory.c_str(), &about) == 0 && is_network_file_system(static_cast<long>(about.f_type))) {
    refuse(
        "it is on a network file system, where SQLite's WAL corrupts; put the file on a local disk, or use "
        "PostgreSQL");
  }
}

}  // namespace onceward::sqlite
