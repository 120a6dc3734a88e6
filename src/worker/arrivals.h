// What has come from a source: deliveries, and beside each its identity by the consumer's policy. Identities are worked out
// by the thread that owns the source, which has time for it while the other waits for the store.
#pragma once

#include <iterator>
#include <variant>
#include <vector>

#include "onceward/claim.h"
#include "onceward/port/source.h"

namespace onceward {

// A claimant that does not say where its envelope and its position stand: they move on their way.
using Identified = std::variant<Claimant, Refusal>;

struct Arrivals {
  std::vector<Delivery> deliveries;
  std::vector<Identified> identities;  // one for each

  bool empty() const { return deliveries.empty(); }
  std::size_t size() const { return deliveries.size(); }
  void clear() {
    deliveries.clear();
    identities.clear();
  }
  void swap(Arrivals& other) {
    deliveries.swap(other.deliveries);
    identities.swap(other.identities);
  }
  void append(Arrivals&& more) {
    deliveries.insert(deliveries.end(), std::move_iterator(more.deliveries.begin()),
                      std::move_iterator(more.deliveries.end()));
    identities.insert(identities.end(), std::move_iterator(more.identities.begin()),
                      std::move_iterator(more.identities.end()));
    more.clear();
  }
  void take(Arrivals& from, std::size_t index) {
    deliveries.push_back(std::move(from.deliveries[index]));
    identities.push_back(std::move(from.identities[index]));
  }
};

}  // namespace onceward
