#include "adapters/kafka/assignment.h"

#include <algorithm>
#include <cassert>

namespace onceward::kafka {

Partition::Item* Partition::find(std::int64_t offset) {
  const auto found = std::ranges::lower_bound(items_, offset, {}, &Item::offset);
  return found == items_.end() || found->offset != offset ? nullptr : &*found;
}

void Partition::hand_out(std::int64_t offset, Delivery delivery) {
  assert(expects(offset));
  items_.push_back({offset, State::held, std::move(delivery)});
  position_ = end_ = offset + 1;
  ++held_;
}

std::optional<Partition::Again> Partition::hand_out_again() {
  if (waiting_ == 0) return std::nullopt;
  const auto found = std::ranges::find(items_, State::waiting, &Item::state);
  found->state = State::held;
  --waiting_;
  ++held_;
  return Again{found->offset, found->delivery};
}

void Partition::settle(std::int64_t offset) {
  Item* const item = find(offset);
  assert(item != nullptr && item->state == State::held);
  item->state = State::settled;
  item->delivery = {};
  --held_;
  ++settled_;
  while (prefix_ < items_.size() && items_[prefix_].state == State::settled) ++prefix_;
}

void Partition::give_back(std::int64_t offset) {
  Item* const item = find(offset);
  assert(item != nullptr && item->state == State::held);
  item->state = State::waiting;
  --held_;
  ++waiting_;
}

std::optional<std::int64_t> Partition::due() const {
  if (prefix_ > 0) return std::max(items_[prefix_ - 1].offset + 1, floor_);
  return floor_is_due_ ? std::optional(floor_) : std::nullopt;
}

std::size_t Partition::committed(std::int64_t offset) {
  std::size_t count = 0;
  while (prefix_ > 0 && items_.front().offset < offset) {
    items_.pop_front();
    --prefix_;
    ++count;
  }
  settled_ -= count;
  has_committed_ = true;
  if (offset >= floor_) floor_is_due_ = false;
  return count;
}

void Partition::skip_to(std::int64_t position) {
  position_ = floor_ = position;
  floor_is_due_ = true;
}

Partition& Assignment::add(std::int32_t number, std::int64_t position) {
  remove(number);
  return partitions_.emplace(number, Partition(++generations_, position)).first->second;
}

void Assignment::remove(std::int32_t number) {
  const auto found = partitions_.find(number);
  if (found == partitions_.end()) return;
  failed_ += found->second.uncommitted();
  partitions_.erase(found);
  changed_ = true;
}

void Assignment::clear() {
  while (!partitions_.empty()) remove(partitions_.begin()->first);
}

Partition* Assignment::find(std::int32_t number) {
  const auto found = partitions_.find(number);
  return found == partitions_.end() ? nullptr : &found->second;
}

Partition* Assignment::find(std::int32_t number, std::uint64_t generation) {
  Partition* const partition = find(number);
  return partition == nullptr || partition->generation() != generation ? nullptr : partition;
}

}  // namespace onceward::kafka
