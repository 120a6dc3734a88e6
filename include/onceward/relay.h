// The relay: publishes what handlers and producers have staged, until the broker has confirmed each, and only then calls it
// published. A row that has to go again has the same id and the same bytes.
//
// One relay is the caller's thread, which owns the store, and one thread for each target. Several relays, in one process or
// many, share the keys among them; of a key that is ordered one row is under way at a time, and one relay tends it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "onceward/declaration.h"
#include "onceward/log.h"
#include "onceward/port/publisher.h"
#include "onceward/port/store.h"

namespace onceward {

// A broker to publish to. Opened on the target's own thread, and again after it was lost.
struct RelayTarget {
  std::string name;
  std::function<std::unique_ptr<Publisher>()> open;  // throws Fault
};

// Where messages of some types go. The first route that fits is taken.
struct RelayRoute {
  std::vector<std::string> types;  // each exact, or with one '*' at its end
  std::size_t target = 0;          // of RelayOptions::targets
  std::string destination{};
  std::string key{"{key}"};  // as Publication::key: "{key}", "{type}", or a text of its own
  bool ordered = false;      // by key
};

struct RelayOptions {
  std::string name;      // of this relay, for people
  std::string producer;  // the logical producer of every message
  std::vector<RelayTarget> targets;
  std::vector<RelayRoute> routes;
  RetryBudget retry{.attempts = 10,
                    .first_delay = std::chrono::seconds(1),
                    .longest_delay = std::chrono::minutes(5)};  // of a row that its broker refuses
  int page = 1'000;                                             // rows that are read together
  std::chrono::milliseconds lease{10'000};  // how long others wait for a relay that has fallen silent
  std::chrono::milliseconds poll{500};      // how often the outbox is looked at when nobody wakes it
  std::chrono::milliseconds patience{
      2'000};  // with a broker that does not answer, until others are no longer held up by it
};

// What the relays of a process have done since it began; written by them, read by anybody.
struct RelayTally {
  using Count = std::atomic<std::uint64_t>;
  Count published{};                       // confirmed by their brokers
  Count refused{}, put_off{}, in_doubt{};  // receipts that were none
  Count set_aside{};                       // rows whose attempts are used up
  Count fenced{};                          // pages whose slots another relay had taken over
  Count store_outages{}, publisher_outages{};
};

class Relay {
 public:
  // All must outlive the relay; the store is its alone. Throws std::invalid_argument for options that make no sense.
  Relay(RelayOptions options, Store& store, RelayTally& tally, Log& log = silent_log());
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Works until `stop` is asked for; then waits for the receipts of what is under way, no longer than `drain`, and gives
  // its keys to the others. Throws Fault only for what poisons the process.
  void run(std::stop_token stop, std::chrono::milliseconds drain = std::chrono::seconds(30));

  // Something was committed. From any thread.
  void wake() noexcept;
  // Why it waits; empty while it works. From any thread.
  std::string trouble() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace onceward
