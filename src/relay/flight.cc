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
void Flight::give_back() {
  for (const std::uint64_t number : std::exchange(ready_, {})) decide(number, Result::Kind::away);
}

void Flight::open(std::string_view key) {
  if (const auto found = stopped_.find(key); found != stopped_.end()) stopped_.erase(found);
}

std::vector<Publication> Flight::next(std::size_t most) {
  std::vector<Publication> publications;
  while (!ready_.empty() && publications.size() < most) {
    const Parcel& parcel = parcels_.at(ready_.front()).parcel;
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
  put_off_ = receipt.kind == Receipt::Kind::put_off;
  switch (receipt.kind) {
    case Receipt::Kind::confirmed:
      return decide(receipt.tag, Result::Kind::published);
    case Receipt::Kind::refused:
      return decide(receipt.tag, Result::Kind::refused, receipt.why);
    case Receipt::Kind::put_off:
      if (++found->second.times_put_off > most_put_off_) return decide(receipt.tag, Result::Kind::refused, receipt.why);
      break;
    case Receipt::Kind::in_doubt:
      break;
  }
  ready_.push_front(receipt.tag);
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
