#include "src/relay/stopped_keys.h"

namespace onceward::relay {

void StoppedKeys::read(const Waiting& waiting, std::span<const int> slots) {
  keys_ = waiting.keys(slots);
  left_.clear();
}

std::vector<std::string> StoppedKeys::open(const Waiting& waiting, const Departures& under_way) {
  std::vector<std::string> opened;
  const auto staying = waiting.keys_among(left_);
  for (const std::string& key : left_) {
    if (!staying.contains(key) && !under_way.concerns(key) && keys_.erase(key) > 0) opened.push_back(key);
  }
  left_.clear();
  return opened;
}

}  // namespace onceward::relay
