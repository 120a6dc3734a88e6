#include "src/relay/flight.h"

#include <utility>

namespace onceward::relay {

void Flight::add(Parcel parcel) {
  const std::uint64_t number = parcel.number;
  const std::string key(parcel.row.key);
  if (parcel.ordered && !parcel.again && stopped_.contains(key)) {
    results_.push_back({number, Result::Kind::behind, {}});
    return;
  }
  const bool ordered = parcel.ordered;
  parcels_.emplace(number, Held{std::move(parcel)});
  if (!ordered) {
    ready_.push_back(number);
    return;
  }
  auto& queue = queues_[key];
  queue.push_back(number);
  if (queue.size() == 1) ready_.push_back(number);
}

// Of an ordered key the first is ready or sent; if it is sent, those behind it wait for its end.
void Flight::give_back(bool with_those_sent) {
  for (const std::uint64_t number : std::exchange(ready_, {})) decide(number, Result::Kind::away);
  if (!with_those_sent) return;
  std::vector<std::uint64_t> sent;
  for (const auto& [number, held] : parcels_) {
    if (held.sent) sent.push_back(number);
  }
  for (const std::uint64_t number : sent) decide(number, Result::Kind::away);
}

void Flight::open(std::string_view key) {
  if (const auto found = stopped_.find(key); found != stopped_.end()) stopped_.erase(found);
}

std::vector<Publication> Flight::next(std::size_t most) {
  std::vector<Publication> publications;
  while (!ready_.empty() && publications.size() < most) {
    Held& held = parcels_.at(ready_.front());
    const Parcel& parcel = held.parcel;
    if (!std::exchange(held.sent, true)) held.confirmed_before = confirmed_;
    publications.push_back(
        {.tag = parcel.number, .destination = parcel.destination, .key = parcel.key, .envelope = parcel.row.envelope});
    ready_.pop_front();
  }
  return publications;
}

void Flight::take_back(std::span<const Publication> publications) {
  for (auto last = publications.rbegin(); last != publications.rend(); ++last) ready_.push_front(last->tag);
}

void Flight::answer(const Receipt& receipt) {
  const auto found = parcels_.find(receipt.tag);
  if (found == parcels_.end()) return;
  Held& held = found->second;
  switch (receipt.kind) {
    case Receipt::Kind::confirmed:
      ++confirmed_;
      return decide(receipt.tag, Result::Kind::published);
    case Receipt::Kind::refused:
      return decide(receipt.tag, Result::Kind::refused, receipt.why);
    case Receipt::Kind::put_off:
      ++held.times_put_off;
      break;
    case Receipt::Kind::in_doubt:
      ++held.times_in_doubt;
      break;
  }
  if (too_often(held)) return decide(receipt.tag, Result::Kind::put_off, receipt.why);
  ready_.push_front(receipt.tag);
}

bool Flight::too_often(const Held& held) const {
  return confirmed_ > held.confirmed_before &&
         (held.times_put_off > limits_.put_off || held.times_in_doubt > limits_.in_doubt);
}

void Flight::decide(std::uint64_t number, Result::Kind kind, std::string why) {
  const Parcel parcel = std::move(parcels_.extract(number).mapped().parcel);
  results_.push_back({number, kind, std::move(why)});
  if (!parcel.ordered) return;
  const std::string key(parcel.row.key);
  kind == Result::Kind::published ? let_next(key) : stop_key(key);
}

void Flight::let_next(const std::string& key) {
  const auto queue = queues_.find(key);
  queue->second.pop_front();
  if (queue->second.empty()) {
    queues_.erase(queue);
  } else {
    ready_.push_back(queue->second.front());
  }
}

void Flight::stop_key(const std::string& key) {
  const std::deque<std::uint64_t> queue = std::move(queues_.extract(key).mapped());
  for (auto behind = queue.begin() + 1; behind != queue.end(); ++behind) {
    parcels_.erase(*behind);
    results_.push_back({*behind, Result::Kind::behind, {}});
  }
  stopped_.insert(key);
}

}  // namespace onceward::relay
