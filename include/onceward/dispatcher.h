// The dispatcher: makes the calls that handlers have staged, each under its one key, and finds out what became of those whose
// outcome is not known. An attempt is committed before its bytes go out; one that was cut off is unknown, never planned again.
//
// A dispatcher is one endpoint, one store and the caller's thread. Several, in one process or many, share the calls of an
// endpoint: a call is under way at one of them at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "onceward/declaration.h"
#include "onceward/log.h"
#include "onceward/port/endpoint.h"
#include "onceward/port/store.h"

namespace onceward {

// What the dispatchers of one endpoint have done since the process began; written by them, read by anybody.
struct DispatchTally {
  using Count = std::atomic<std::uint64_t>;
  Count started{};                                                // calls whose bytes may have gone out
  Count succeeded{}, failed{}, put_off{}, not_sent{}, unknown{};  // how they ended
  Count expired{};                                                // attempts whose lease ended: unknown
  Count fenced{};                                         // answers that came when the attempt was no longer ours
  Count found_done{}, found_not_done{}, still_unknown{};  // by look-ups
  Count waiting{};                                        // sent to wait for a person's approval
  Count circuit_opened{};
  Count store_outages{};
};

class Dispatcher {
 public:
  // All must outlive the dispatcher; store and endpoint are its alone. `name` of this process, for people. Throws
  // std::invalid_argument for a declaration that makes no sense (a lease shorter than endpoint.longest(), ...).
  Dispatcher(const EndpointDeclaration& declaration, std::string name, Store& store, Endpoint& endpoint,
             DispatchTally& tally, Log& log = silent_log());
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Works until `stop` is asked for; then waits for the answers to what is under way, no longer than `drain`, and records
  // them. Throws Fault only for what poisons the process.
  void run(std::stop_token stop, std::chrono::milliseconds drain = std::chrono::seconds(30));

  // Something was committed. From any thread.
  void wake() noexcept;
  // Why it waits (an open circuit, a store that is away); empty while it works. From any thread.
  std::string trouble() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace onceward
