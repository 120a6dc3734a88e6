#include "src/declaration/duration.h"

#include <charconv>
#include <cstdint>
#include <ranges>

namespace onceward::declaration {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
constexpr std::int64_t second = 1000;
constexpr std::int64_t day = 86'400 * second;
constexpr Unit units[] = {{"ms", 1},  {"s", second},   {"m", 60 * second}, {"h", 3600 * second},
                          {"d", day}, {"y", 365 * day}};
constexpr std::int64_t longest_duration = 1000 * 365 * day;

}  // namespace

std::optional<std::chrono::milliseconds> read_duration(std::string_view text) {
  std::uint32_t count = 0;  // unsigned: no sign is taken
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (count > longest_duration / unit.milliseconds) return std::nullopt;
    return std::chrono::milliseconds(count * unit.milliseconds);
  }
  return std::nullopt;
}

std::string write_duration(std::chrono::milliseconds duration) {
  const std::int64_t count = duration.count();
  for (const Unit& unit : std::views::reverse(units)) {
    if (count != 0 && count % unit.milliseconds == 0)
      return std::to_string(count / unit.milliseconds) + std::string(unit.name);
  }
  return std::to_string(count) + "ms";
}

}  // namespace onceward::declaration
