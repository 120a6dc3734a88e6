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
  void read(const Waiting& waiting, std::span<const int> slots);
  void add(std::string_view key) { keys_.emplace(key); }
  void add(std::span<const std::string> keys) { keys_.insert(keys.begin(), keys.end()); }
  bool contains(std::string_view key) const { return keys_.contains(key); }
  // Rows of these that had waited have left: they may be the last.
  void some_left(std::span<const std::string> keys) { left_.insert(left_.end(), keys.begin(), keys.end()); }
  // Of those of which some have left: those of which nothing waits any longer, and nothing under way may have to, go on. Asks
  // nobody where none have; when the store is away they are asked for again the next time.
  std::vector<std::string> open(const Waiting& waiting, const Departures& under_way);

 private:
  std::set<std::string, std::less<>> keys_;
  std::vector<std::string> left_;
};

}  // namespace onceward::relay
