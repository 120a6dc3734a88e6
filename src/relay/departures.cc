#include "src/relay/departures.h"

#include <utility>

namespace onceward::relay {
namespace {

Setback::Why why_of(Result::Kind kind) {
  switch (kind) {
    case Result::Kind::behind:
      return Setback::Why::behind;
    case Result::Kind::away:
      return Setback::Why::away;
    case Result::Kind::put_off:
      return Setback::Why::put_off;
    default:
      return Setback::Why::refused;
  }
}

Setback setback_of(const OutboxRow& row, bool ordered, std::string_view target) {
  return {.tick = row.tick,
          .position = row.position,
          .slot = row.slot,
          .attempts = row.attempts,
          .waited = row.waited,
          .ordered = ordered,
          .target = target};
}

}  // namespace

void Departures::begin(std::vector<int> slots, std::optional<Place> to, TickName tick) {
  all_.push_back({.slots = std::move(slots), .to = to, .tick = std::move(tick)});
}

std::uint64_t Departures::add(const OutboxRow& row, bool ordered, std::string_view target) {
  ++all_.back().left;
  Sent sent{first_ + all_.size() - 1, setback_of(row, ordered, target), ordered ? std::string(row.key) : std::string()};
  if (ordered) ++concerned_[sent.key];
  sent_.emplace(next_, std::move(sent));
  return next_++;
}

void Departures::set_back(const OutboxRow& row, bool ordered, std::string_view target, Setback::Why why,
                          std::string detail) {
  Setback setback = setback_of(row, ordered, target);
  setback.why = why;
  setback.detail = std::move(detail);
  all_.back().setbacks.push_back(std::move(setback));
  if (ordered) ++concerned_[all_.back().keys.emplace_back(row.key)];
}

void Departures::take(Result result) {
  const auto found = sent_.find(result.number);
  if (found == sent_.end()) return;
  Sent sent = std::move(found->second);
  sent_.erase(found);
  Departure& departure = all_[sent.departure - first_];
  --departure.left;
  if (result.kind != Result::Kind::published) {
    sent.row.why = why_of(result.kind);
    sent.row.detail = std::move(result.why);
    departure.setbacks.push_back(std::move(sent.row));
    if (!sent.key.empty()) departure.keys.push_back(std::move(sent.key));
    return;
  }
  if (!departure.to) departure.published.push_back(sent.row.position);
  if (sent.key.empty()) return;
  release(sent.key);
  if (!departure.to) departure.keys_of_published.push_back(std::move(sent.key));
}

void Departures::release(const std::string& key) {
  if (const auto found = concerned_.find(key); --found->second == 0) concerned_.erase(found);
}

Departure Departures::pop() {
  Departure first = std::move(all_.front());
  for (const std::string& key : first.keys) release(key);
  all_.pop_front();
  ++first_;
  return first;
}

void Departures::clear() {
  first_ += all_.size();
  all_.clear();
  sent_.clear();
  concerned_.clear();
}

}  // namespace onceward::relay
