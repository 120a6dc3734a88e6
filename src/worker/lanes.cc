#include "src/worker/lanes.h"

#include <algorithm>
#include <iterator>

namespace onceward {

void Lanes::pass(std::vector<Delivery>& deliveries, Clock::time_point now) {
  running_.clear();
  if (lanes_.empty()) return;
  std::vector<Delivery> due, rest;
  for (Delivery& delivery : deliveries) {
    const auto lane = lanes_.find(delivery.partition);
    held_ += lane != lanes_.end() ? 1 : 0;
    (lane != lanes_.end() ? lane->second.waiting : rest).push_back(std::move(delivery));
  }
  for (auto lane = lanes_.begin(); lane != lanes_.end();) {
    if (lane->second.until > now) {
      ++lane;
      continue;
    }
    held_ -= lane->second.waiting.size();
    running_[lane->second.first] = lane->second.attempts;
    std::ranges::move(lane->second.waiting, std::back_inserter(due));
    lane = lanes_.erase(lane);
  }
  std::ranges::move(rest, std::back_inserter(due));
  deliveries = std::move(due);
}

void Lanes::keep(std::vector<Delivery>& ran, std::span<const Applier::PutOff> put_off, Clock::time_point now) {
  for (const Applier::PutOff& one : put_off) {
    Lane& lane = lanes_[one.partition];
    if (lane.first != 0 && lane.first < one.tag) continue;
    lane.until = now + one.after;
    lane.first = one.tag;
    lane.attempts = one.attempts;
  }
  for (Delivery& delivery : ran) {
    const auto lane = lanes_.find(delivery.partition);
    if (lane == lanes_.end() || delivery.tag < lane->second.first) continue;
    lane->second.waiting.push_back(std::move(delivery));
    ++held_;
  }
}

int Lanes::attempts(std::uint64_t tag) const {
  const auto found = running_.find(tag);
  return found == running_.end() ? 0 : found->second;
}

std::optional<Lanes::Clock::time_point> Lanes::next() const {
  if (lanes_.empty()) return std::nullopt;
  return std::ranges::min_element(lanes_, {}, [](const auto& lane) { return lane.second.until; })->second.until;
}

}  // namespace onceward
