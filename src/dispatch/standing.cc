#include "src/dispatch/standing.h"

#include <algorithm>
#include <array>

namespace onceward::dispatch {
namespace {

constexpr std::array<std::string_view, 9> names{"planned", "attempting", "succeeded", "failed",   "unknown",
                                                "waiting", "approved",   "refused",   "cancelled"};

}  // namespace

std::string_view name(CallState state) { return names.at(static_cast<std::size_t>(state)); }

CallState state_named(std::string_view name) {
  return static_cast<CallState>(std::ranges::find(names, name) - names.begin());
}

}  // namespace onceward::dispatch
