#include "src/worker/lanes.h"

#include <algorithm>

namespace onceward {
namespace {

std::size_t bytes_of(const Delivery& delivery) { return delivery.envelope.payload().size(); }

}  // namespace

void Lanes::hold(Lane& lane, Arrivals& from, std::size_t index) {
  held_bytes_ += bytes_of(from.deliveries[index]);
  ++held_;
  lane.waiting.take(from, index);
}

void Lanes::pass(Arrivals& arrivals, Clock::time_point now) {
  running_.clear();
  if (lanes_.empty()) return;
  Arrivals due, rest;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const auto lane = lanes_.find(arrivals.deliveries[i].partition);
    lane != lanes_.end() ? hold(lane->second, arrivals, i) : rest.take(arrivals, i);
  }
  for (auto lane = lanes_.begin(); lane != lanes_.end();) {
    if (lane->second.until > now) {
      ++lane;
      continue;
    }
    held_ -= lane->second.waiting.size();
    for (const Delivery& delivery : lane->second.waiting.deliveries) held_bytes_ -= bytes_of(delivery);
    running_[lane->second.first] = lane->second.attempts;
    due.append(std::move(lane->second.waiting));
    lane = lanes_.erase(lane);
  }
  due.append(std::move(rest));
  arrivals.swap(due);
}

void Lanes::keep(Arrivals& ran, std::span<const Applier::PutOff> put_off, Clock::time_point now) {
  for (const Applier::PutOff& one : put_off) {
    Lane& lane = lanes_[one.partition];
    if (lane.first != 0 && lane.first < one.tag) continue;
    lane.until = now + one.after;
    lane.first = one.tag;
    lane.attempts = one.attempts;
  }
  for (std::size_t i = 0; i < ran.size() && !lanes_.empty(); ++i) {
    const auto lane = lanes_.find(ran.deliveries[i].partition);
    if (lane == lanes_.end() || ran.deliveries[i].tag < lane->second.first) continue;
    hold(lane->second, ran, i);
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
