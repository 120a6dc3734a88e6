// What has been read and is on its way, in the order in which it was read. A page is done when each of its rows has been
// published, or is to wait in the store; places move only over pages that are done, one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/relay/flight.h"
#include "src/relay/place.h"
#include "src/relay/waiting.h"

namespace onceward::relay {

struct Departure {
  std::vector<int> slots;
  std::optional<Place> to;                       // nothing: its rows have waited in the store
  TickName tick;                                 // that its rows were read from
  std::size_t left = 0;                          // without a result
  std::vector<Setback> setbacks{};               // rows that are to wait, or to wait again
  std::vector<std::string> keys{};               // that its setbacks stop
  std::vector<std::int64_t> published{};         // of rows that have waited
  std::vector<std::string> keys_of_published{};  // those that are ordered
};

class Departures {
 public:
  // The next one; rows are added to it.
  void begin(std::vector<int> slots, std::optional<Place> to, TickName tick = {});
  // The number under which the row's result will come. `target` outlives this.
  std::uint64_t add(const OutboxRow& row, bool ordered, std::string_view target);
  // The row is not sent at all.
  void set_back(const OutboxRow& row, bool ordered, std::string_view target, Setback::Why why, std::string detail = {});

  void take(Result result);

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  // The first one, if all of it has come to an end.
  const Departure* done() const { return !all_.empty() && all_.front().left == 0 ? &all_.front() : nullptr; }
  Departure pop();
  // Whether a row of this ordered key is on its way, or is to be kept.
  bool concerns(const std::string& key) const { return concerned_.contains(key); }
  // What was read is not ours any longer, or will be read again.
  void clear();

 private:
  struct Sent {
    std::uint64_t departure = 0;  // counted from the beginning
    Setback row;
    std::string key{};  // of an ordered row
  };
  void release(const std::string& key);

  std::deque<Departure> all_;
  std::uint64_t first_ = 0;  // the number of all_.front()
  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, Sent> sent_;
  std::unordered_map<std::string, std::size_t> concerned_;  // ordered keys, and how many rows of each
};

}  // namespace onceward::relay
