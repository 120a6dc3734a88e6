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
    put_off,  // time and again, or time and again in doubt, while others were confirmed; `why` tells
  };
  std::uint64_t number = 0;
  Kind kind = Kind::published;
  std::string why{};
};

// How often one may be put off, or in doubt, while others are confirmed.
struct FlightLimits {
  int put_off = 5;
  int in_doubt = 1;
};

class Flight {
 public:
  explicit Flight(const FlightLimits& limits = {}) : limits_(limits) {}

  void add(Parcel parcel);
  // Everything that the broker has not been given comes back undecided, and what is behind it in its key. With what it has
  // been given, all of it: whatever it still says of those is of no use.
  void give_back(bool with_those_sent);
  // The key may go again: none of it waits any longer.
  void open(std::string_view key);

  // Up to `most` that may go now, marked as sent.
  std::vector<Publication> next(std::size_t most);
  bool has_next() const { return !ready_.empty(); }
  // Those of the last next() were not taken by the publisher.
  void take_back(std::span<const Publication> publications);
  // What the broker said. One that is in doubt or put off goes again, first of all, unless that has been so too often and
  // others were confirmed since it was first sent: where none is, it is not the message's fault.
  void answer(const Receipt& receipt);

  // What has been decided since the last call.
  std::vector<Result> results() { return std::exchange(results_, {}); }
  // Neither sent nor decided, or sent and not answered.
  std::size_t size() const { return parcels_.size(); }

 private:
  struct Held {
    Parcel parcel;
    int times_put_off = 0, times_in_doubt = 0;
    bool sent = false;
    std::uint64_t confirmed_before = 0;  // by the broker, when it was first sent
  };
  bool too_often(const Held& held) const;
  void decide(std::uint64_t number, Result::Kind kind, std::string why = {});
  void stop_key(const std::string& key);
  void let_next(const std::string& key);

  const FlightLimits limits_;
  std::unordered_map<std::uint64_t, Held> parcels_;
  std::deque<std::uint64_t> ready_;
  std::map<std::string, std::deque<std::uint64_t>, std::less<>>
      queues_;  // of ordered keys; the first one is ready or sent
  std::set<std::string, std::less<>> stopped_;
  std::vector<Result> results_;
  std::uint64_t confirmed_ = 0;
};

}  // namespace onceward::relay
