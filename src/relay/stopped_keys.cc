#include "src/relay/stopped_keys.h"

namespace onceward::relay {

std::vector<std::string> StoppedKeys::open(std::span<const std::string> keys, const Waiting& waiting,
                                           const Departures& under_way) {
  std::vector<std::string> opened;
  const auto staying = waiting.keys_among(keys);
  for (const std::string& key : keys) {
    if (!staying.contains(key) && !under_way.concerns(key) && keys_.erase(key) > 0) opened.push_back(key);
  }
  return opened;
}

}  // namespace onceward::relay
