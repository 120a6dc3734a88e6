#include "src/relay/departures.h"

#include <algorithm>

namespace onceward::relay {
namespace {

Setback::Why why_of(Result::Kind kind) {
  return kind == Result::Kind::refused  ? Setback::Why::refused
         : kind == Result::Kind::behind ? Setback::Why::behind
                                        : Setback::Why::away;
}

std::string_view reason_of(Setback::Why why) {
  return why == Setback::Why::refused ? "refused" : why == Setback::Why::behind ? "behind" : "away";
}

}  // namespace

void Departures::begin(std::vector<int> slots, std::optional<Place> to, TickName tick) {
  all_.emplace_back(Departure{std::move(slots), to, std::move(tick), 0, {}, {}, {}});
}

Setback Departures::place_of(const OutboxRow& row, bool ordered) {
  return {.tick = row.tick, .position = row.position, .slot = row.slot, .attempts = row.attempts, .ordered = ordered};
}

std::uint64_t Departures::add(const OutboxRow& row, bool ordered) {
  ++all_.back().left;
  Sent sent{first_ + all_.size() - 1, place_of(row, ordered), ordered ? std::string(row.key) : std::string()};
  if (ordered) ++flying_[sent.key];
  sent_.emplace(next_, std::move(sent));
  return next_++;
}

void Departures::set_back(const OutboxRow& row, bool ordered, Setback::Why why, std::string reason,
                          std::string detail) {
  Setback setback = place_of(row, ordered);
  setback.why = why;
  setback.attempts += why == Setback::Why::refused ? 1 : 0;
  setback.reason = std::move(reason);
  setback.detail = std::move(detail);
  all_.back().setbacks.push_back(std::move(setback));
  if (ordered) all_.back().keys.emplace_back(row.key);
}

void Departures::take(Result result) {
  const auto found = sent_.find(result.number);
  if (found == sent_.end()) return;
  Sent sent = std::move(found->second);
  sent_.erase(found);
  if (const auto flying = flying_.find(sent.key); flying != flying_.end() && --flying->second == 0)
    flying_.erase(flying);
  Departure& departure = all_[sent.departure - first_];
  --departure.left;
  if (result.kind == Result::Kind::published) {
    if (!departure.to) departure.published.push_back(sent.row.position);
    return;
  }
  sent.row.why = why_of(result.kind);
  sent.row.attempts += sent.row.why == Setback::Why::refused ? 1 : 0;
  sent.row.reason = reason_of(sent.row.why);
  sent.row.detail = std::move(result.why);
  departure.setbacks.push_back(std::move(sent.row));
  if (!sent.key.empty()) departure.keys.push_back(std::move(sent.key));
}

bool Departures::concerns(const std::string& key) const {
  return flying_.contains(key) || std::ranges::any_of(all_, [&](const Departure& departure) {
           return std::ranges::find(departure.keys, key) != departure.keys.end();
         });
}

void Departures::clear() {
  first_ += all_.size();
  all_.clear();
  sent_.clear();
  flying_.clear();
}

}  // namespace onceward::relay
