// What one target has to publish: which rows may go now, and what became of each. Knows nothing of threads or brokers.
//
// Of a key that is ordered one row is under way at a time: the next goes when the broker has confirmed the one before. When
// one cannot be published its key stops: those behind it come back unsent, until somebody opens the key again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onceward/port/publisher.h"
#include "src/relay/row.h"

namespace onceward::relay {

// A row and where it goes.
struct Parcel {
  std::uint64_t number = 0;  // the sender's own
  OutboxRow row;
  std::string_view destination{};  // of a route, which outlives it
  std::string_view key{};          // as Publication
  bool ordered = false;
  bool again = false;  // it has waited in the store, and is the first of its key
};

struct Result {
  enum class Kind : std::uint8_t {
    published,
    refused,  // surely not there; `why` tells
    behind,   // not sent: it stands behind one of its key that could not be
    away,     // not sent, or in doubt: given back
  };
  std::uint64_t number = 0;
  Kind kind = Kind::published;
  std::string why{};
};

class Flight {
 public:
  // How often a broker may put one off before that counts as refused.
  explicit Flight(int most_put_off = 5) : most_put_off_(most_put_off) {}

  void add(Parcel parcel);
  // Everything that the broker has not been given comes back undecided, and what is behind it in its key.
  void give_back();
  // The key may go again: none of it waits any longer.
  void open(std::string_view key);

  // Up to `most` that may go now, marked as sent.
  std::vector<Publication> next(std::size_t most);
  bool has_next() const { return !ready_.empty(); }
  // Those of the last next() were not taken by the publisher.
  void take_back(std::span<const Publication> publications);
  // What the broker said. One that is in doubt or put off goes again, first of all.
  void answer(const Receipt& receipt);

  // What has been decided since the last call.
  std::vector<Result> results() { return std::exchange(results_, {}); }
  // Neither sent nor decided, or sent and not answered.
  std::size_t size() const { return parcels_.size(); }
  // Whether the last answer asked for patience.
  bool put_off() const { return put_off_; }

 private:
  struct Held {
    Parcel parcel;
    int times_put_off = 0;
  };
  void decide(std::uint64_t number, Result::Kind kind, std::string why = {});
  void stop_key(const std::string& key);
  void let_next(const std::string& key);

  const int most_put_off_;
  std::unordered_map<std::uint64_t, Held> parcels_;
  std::deque<std::uint64_t> ready_;
  std::map<std::string, std::deque<std::uint64_t>, std::less<>>
      queues_;  // of ordered keys; the first one is ready or sent
  std::set<std::string, std::less<>> stopped_;
  std::vector<Result> results_;
  bool put_off_ = false;
};

}  // namespace onceward::relay
