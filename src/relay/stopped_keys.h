// Ordered keys of which a row waits in the store, or will: what is read of them waits behind it, until none does.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/relay/departures.h"
#include "src/relay/waiting.h"

namespace onceward::relay {

class StoppedKeys {
 public:
  // Those of these slots, as the store has them.
  void read(const Waiting& waiting, std::span<const int> slots) { keys_ = waiting.keys(slots); }
  void add(std::string_view key) { keys_.emplace(key); }
  void add(std::span<const std::string> keys) { keys_.insert(keys.begin(), keys.end()); }
  bool contains(std::string_view key) const { return keys_.contains(key); }
  // Rows of these have left: those of which nothing waits any longer, and nothing under way may have to, go on.
  std::vector<std::string> open(std::span<const std::string> keys, const Waiting& waiting, const Departures& under_way);

 private:
  std::set<std::string, std::less<>> keys_;
};

}  // namespace onceward::relay
