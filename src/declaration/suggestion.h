// "did you mean": the nearest of the words that would have been right.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace onceward::declaration {

// Nothing if none is near. Case, and '-' for '_', do not count as differences.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

// `did you mean "attempts"?`, or else `one of: attempts, first_delay`.
std::string suggest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace onceward::declaration
