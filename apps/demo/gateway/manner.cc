#include "apps/demo/gateway/manner.h"

#include <array>
#include <random>
#include <vector>

#include "apps/demo/payment.h"

namespace onceward::demo {
namespace {

struct Share {
  Manner manner;
  std::uint32_t of_1000;
};
constexpr std::array<Share, manners - 1> shares{{{Manner::slow, 10},
                                                 {Manner::too_slow, 1},
                                                 {Manner::loses_reply, 10},
                                                 {Manner::fails_after_work, 10},
                                                 {Manner::drops_request, 5},
                                                 {Manner::mute, 2}}};
constexpr std::uint32_t least_slow_ms = 20, most_slow_ms = 150;

// The standard's own engine and sequence, and so the same everywhere.
std::mt19937 chance_of(std::uint64_t seed, std::string_view key) {
  std::vector<std::uint32_t> words(key.begin(), key.end());
  words.push_back(static_cast<std::uint32_t>(seed));
  words.push_back(static_cast<std::uint32_t>(seed >> 32));
  std::seed_seq sequence(words.begin(), words.end());
  return std::mt19937(sequence);
}

}  // namespace

Conduct conduct_of(std::uint64_t seed, std::string_view key) {
  std::mt19937 chance = chance_of(seed, key);
  auto drawn = static_cast<std::uint32_t>(chance() % 1000);
  for (const auto& [manner, of_1000] : shares) {
    if (drawn >= of_1000) {
      drawn -= of_1000;
      continue;
    }
    if (manner == Manner::slow) {
      return {manner, std::chrono::milliseconds(least_slow_ms + chance() % (most_slow_ms - least_slow_ms + 1))};
    }
    if (manner == Manner::too_slow) return {manner, call_timeout + std::chrono::milliseconds(200)};
    return {manner, {}};
  }
  return {};
}

}  // namespace onceward::demo
