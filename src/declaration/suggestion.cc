#include "src/declaration/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace onceward::declaration {
namespace {

constexpr std::size_t longest_word = 64;  // nobody misspells a longer one

std::string folded(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return result;
}

// Insertions, deletions, substitutions and swaps of neighbours that make one word the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> steps(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      const std::size_t differs = from[i - 1] == to[j - 1] ? 0 : 1;
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[from.size()][to.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > longest_word) return std::nullopt;
  const std::string wanted = folded(word);
  std::optional<std::string_view> best;
  std::size_t least = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t steps = distance(wanted, folded(candidate));
    const std::size_t tolerated = std::max<std::size_t>(1, candidate.size() / 3);
    if (steps > tolerated || steps >= candidate.size() || (best && steps >= least)) continue;
    best = candidate;
    least = steps;
  }
  return best;
}

std::string suggest(std::string_view word, std::span<const std::string_view> candidates) {
  if (const auto meant = nearest(word, candidates)) return fmt::format("did you mean \"{}\"?", *meant);
  return fmt::format("one of: {}", fmt::join(candidates, ", "));
}

}  // namespace onceward::declaration
