#include "apps/daemon/process_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

namespace onceward::daemon {

std::string process_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("{}:{}", host.data(), ::getpid());
}

}  // namespace onceward::daemon
