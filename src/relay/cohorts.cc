#include "src/relay/cohorts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace onceward::relay {

void Cohorts::start_anew(const std::map<int, Place>& places) {
  by_place_.clear();
  for (const auto& [slot, place] : places) by_place_[place].push_back(slot);
}

std::optional<Cohorts::Next> Cohorts::read(Pages& pages, int most) {
  if (by_place_.empty()) return std::nullopt;
  const auto first = by_place_.begin();
  const auto second = std::next(first);
  const auto until = second == by_place_.end() ? std::nullopt : std::optional(second->first);
  Page page = pages.read(first->second, first->first, until, most);
  if (page.to == first->first) return std::nullopt;
  std::vector<int> slots = std::move(first->second);
  by_place_.erase(first);
  std::ranges::copy(slots, std::back_inserter(by_place_[page.to]));
  return Next{std::move(slots), std::move(page)};
}

}  // namespace onceward::relay
