#include "adapters/rabbitmq/limits.h"

#include <charconv>

namespace onceward::rabbitmq {

std::optional<std::int32_t> default_delivery_limit(std::string_view version) {
  constexpr int first_with_a_limit = 4;
  constexpr std::int32_t limit = 20;
  int major = 0;
  if (std::from_chars(version.data(), version.data() + version.size(), major).ec != std::errc()) return std::nullopt;
  return major >= first_with_a_limit ? limit : -1;
}

}  // namespace onceward::rabbitmq
