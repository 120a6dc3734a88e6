// Durations as people write them: a whole number and one unit, e.g. "250ms", "30s", "5m", "12h", "7d", "2y".
// A day has 24 hours and a year 365 days.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::declaration {

inline constexpr std::string_view duration_hint = R"(a whole number and one of ms, s, m, h, d, y, e.g. "30s")";

// Nothing for any other text, and for what is longer than a thousand years.
std::optional<std::chrono::milliseconds> read_duration(std::string_view text);

// In the largest unit that divides it.
std::string write_duration(std::chrono::milliseconds duration);

}  // namespace onceward::declaration
