// The port to an external system that is called: a payment gateway, a mail server, a callback of the team's own. An Endpoint
// belongs to one thread. It takes requests while it has room, and tells of each how it ended: answers come later than the
// requests, and in any order.
//
// A call cannot be taken back. So an endpoint never sends one twice by itself, and says `unknown` whenever the other side may
// have seen it and no definite answer came. What becomes of that is the dispatcher's business.
//
// The contract is executable: tests/conformance/endpoint runs on every adapter.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "onceward/fault.h"

namespace onceward {

// What is asked of an external system. Borrowed until start() returns.
struct EndpointRequest {
  enum class Kind : std::uint8_t {
    call,     // do it
    look_up,  // was it done? Only where looks_up()
  };
  std::uint64_t tag = 0;  // the caller's own name for it, given back with the answer
  Kind kind = Kind::call;
  std::string_view key;  // the idempotency key: the same on every attempt
  std::string_view type{};
  std::string_view business_key{};
  std::string_view body{};          // exact bytes
  std::string_view external_ref{};  // of a look-up: what an earlier attempt has learnt, if anything
  std::string_view correlation_id{};
  std::string_view trace_parent{};
  Timestamp created_at{};  // when it was first asked for: the same on every attempt
};

struct EndpointAnswer {
  enum class Kind : std::uint8_t {
    // of a call
    succeeded,  // a definite yes
    failed,     // a definite no: nothing was done, and the same request would be refused again
    later,      // a definite "not now": nothing was done; `after` where the other side said when
    not_sent,   // surely not seen by the other side: no connection, no name, no trust
    unknown,    // it may have been seen, and its outcome is not known
    // of a look-up, which may also be put off (`later`), or ask nobody (`not_sent`)
    done,           // the other side has it
    not_done,       // the other side says that it does not have it
    still_unknown,  // no answer, or none that says
  };
  std::uint64_t tag = 0;
  Kind kind = Kind::unknown;
  int status = 0;                                    // of the protocol: HTTP's or SMTP's; 0: none
  std::string external_ref{};                        // the other side's own name for what was done
  std::string response{};                            // as much of it as was read; only its hash is kept
  std::optional<std::chrono::milliseconds> after{};  // of `later`
  std::string why{};  // for people, of all but succeeded and done; holds no payload and no secret
};

// What the other side says that it has done, of one page of its own list.
struct EndpointRecord {
  std::string key;
  std::string external_ref;
};

class Endpoint {
 public:
  // What has no answer yet is unknown.
  virtual ~Endpoint() = default;

  // How many more requests it takes before answers must be collected. Never 0 while nothing is under way.
  virtual std::size_t room() const = 0;
  // Started, and their answers not yet handed out.
  virtual std::size_t under_way() const = 0;

  // Begins these requests, no more than room(). Throws nothing that the other side has caused: that is an answer.
  virtual void start(std::span<const EndpointRequest> requests) = 0;

  // Appends the answers that have come, one for each request. Returns at once if there are any, else when one comes, when
  // wake() was called, or after `wait`. No request takes longer than longest().
  virtual void collect(std::vector<EndpointAnswer>& into, std::chrono::milliseconds wait) = 0;

  // Lets a collect() that waits return, or the next one that would wait. The only call that another thread may make.
  virtual void wake() noexcept = 0;

  // By when every request has its answer, from its start.
  virtual std::chrono::milliseconds longest() const = 0;
  virtual bool looks_up() const { return false; }
  // All that the other side says it has done since then, for those who compare; nothing where it cannot be asked. Waits.
  // Throws Fault(endpoint_unavailable), and Fault(endpoint_refused) where the answer is none that the declaration describes.
  virtual std::optional<std::vector<EndpointRecord>> list(Timestamp since) {
    static_cast<void>(since);
    return std::nullopt;
  }
  // For messages to people: kind and host, without credentials.
  virtual std::string describe() const = 0;
};

}  // namespace onceward
