#include "src/relay/due_rows.h"

#include <algorithm>
#include <utility>

namespace onceward::relay {
namespace {

constexpr int share_of_looks = 10;  // one that takes long is made as seldom

}  // namespace

void DueRows::start_anew(std::vector<int> slots) {
  slots_ = std::move(slots);
  targets_ = waiting_.targets(slots_);
  under_way_ = false;
}

std::vector<OutboxRow> DueRows::next(const Targets::Names& away) {
  const auto began = Clock::now();
  std::vector<OutboxRow> rows;
  if (slots_.empty() || under_way_ || began < look_at_) return rows;
  for (std::size_t left = targets_.size(); rows.empty() && left > 0; --left) {
    auto next = targets_.upper_bound(last_);
    if (next == targets_.end()) next = targets_.begin();
    last_ = *next;
    if (!away.contains(last_)) rows = waiting_.due(slots_, last_, most_);
  }
  const auto end = Clock::now();
  look_at_ = end + std::max<Clock::duration>(between_looks_, share_of_looks * (end - began));
  under_way_ = !rows.empty();
  return rows;
}

void DueRows::ended(bool some_left) {
  under_way_ = false;
  if (some_left) look_at_ = {};
}

void DueRows::expect(std::string_view target) {
  if (!targets_.contains(target)) targets_.emplace(target);
}

}  // namespace onceward::relay
