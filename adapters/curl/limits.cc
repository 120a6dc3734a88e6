#include "adapters/curl/limits.h"

#include <fmt/format.h>
#include <unistd.h>

#include "src/declaration/duration.h"

namespace onceward::curl {

Fault refused(std::string_view kind, std::string_view what) {
  return {FaultCode::endpoint_refused, Poisons::connection, fmt::format("{}: {}", kind, what)};
}

void check_limits(std::string_view kind, const EndpointDeclaration& declaration) {
  const auto check_time = [&](std::string_view name, std::chrono::milliseconds time) {
    if (time.count() > 0 && time <= longest_timeout) return;
    throw refused(kind, fmt::format("{} goes from 1ms to {}", name, declaration::write_duration(longest_timeout)));
  };
  const auto check_count = [&](std::string_view name, std::size_t count, std::size_t most) {
    if (count > 0 && count <= most) return;
    throw refused(kind, fmt::format("{} goes from 1 to {}", name, most));
  };
  check_time("connect_timeout", declaration.connect_timeout);
  check_time("timeout", declaration.timeout);
  check_count("concurrency", declaration.concurrency, most_concurrency);
  check_count("most_response_bytes", declaration.most_response_bytes, most_response_bytes);
  if (!declaration.ca_file.empty() && access(declaration.ca_file.c_str(), R_OK) != 0) {
    throw refused(kind, "ca_file cannot be read");
  }
}

}  // namespace onceward::curl
