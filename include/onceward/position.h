// Positions: where a message stands in a stream whose progress a store keeps, and not the broker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace onceward {

// Messages one after the other: a partition of a topic. Whoever takes it over gets the next epoch, and what comes under an
// older one is fenced.
struct Stream {
  std::string name;        // "payments/3"
  std::int64_t epoch = 0;  // ours
  std::int64_t begun = 0;  // the epoch in which it began anew: the same offsets before that were other messages
};

struct Position {
  std::shared_ptr<const Stream> stream;  // shared by the source and its deliveries
  std::int64_t offset = 0;
  std::int64_t after = 0;  // the end of the message before it: what lies between was never there
};

// A stream that is ours from now on, and the first offset that was not passed; nothing where it has not begun.
struct TakenOver {
  Stream stream;
  std::optional<std::int64_t> next;
};

// Who keeps the progress of a source's streams. Belongs to the source's thread.
class StreamKeeper {
 public:
  virtual ~StreamKeeper() = default;
  // In the order of `names`. On return whoever had them before can commit nothing more of them. Throws Fault.
  virtual std::vector<TakenOver> take_over(std::span<const std::string> names) = 0;
  // The stream begins at `next`, whatever was passed before. Throws Fault(lost_race) if it is no longer ours.
  virtual Stream begin(const Stream& stream, std::int64_t next) = 0;
};

}  // namespace onceward
