// The port to where messages come from. A Source is one connection and belongs to one thread; more workers open more
// sources. It hands over deliveries and is told what became of each; what a delivery means is not its business.
//
// A message that was received and not settled comes back, here or at another source on the same queue: after a crash,
// after the ack timeout, after close. So every message is delivered at least once, and may be delivered again after it
// was accepted (an answer can be lost).
//
// The contract is executable: tests/conformance/source runs on every adapter.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onceward/envelope.h"
#include "onceward/fault.h"
#include "onceward/position.h"
#include "onceward/refusal.h"

namespace onceward {

struct Delivery {
  // Names this delivery towards settle(). Rises with every delivery of one source and is never used twice by it, also
  // after it has reconnected.
  std::uint64_t tag = 0;
  // What was read. Of a message that could not be read, its exact bytes are the payload and the rest is what was found.
  Envelope envelope;
  std::optional<Refusal> refusal;
  // Hints for retry policy, never for identity: whether the message was delivered before (true where it is not known),
  // and how often in all, 0 where nobody has counted.
  bool redelivered = false;
  std::uint32_t deliveries = 0;
  // The part of the source whose messages come in order, and to one source at a time; -1 where there are no such parts.
  std::int32_t partition = -1;
  std::optional<Position> position{};  // of a source that has positions
};

enum class Settle : std::uint8_t {
  accept,     // committed, or known before: never again
  redeliver,  // not now, or not ours: hand it out again, to anybody
  park,       // kept in our store for a person: gone from here
};

struct Settlement {
  std::uint64_t tag = 0;
  Settle how = Settle::accept;
};

struct SourceCounters {
  std::uint64_t received = 0;
  std::uint64_t redelivered = 0;
  std::uint64_t settled = 0;        // confirmed by the source
  std::uint64_t settle_failed = 0;  // not confirmed: the message may come back, and is then a duplicate
  std::uint64_t reconnects = 0;
};

class Source {
 public:
  virtual ~Source() = default;  // what is not settled is given back, as far as the source can

  // Appends up to `most` deliveries in the order of the source, or fewer where they are large. Returns at once if there are
  // any, else when one comes, when wake() was called, or after `wait`; a source that others write to may take a little
  // longer. With `most` 0 it does not wait, makes no new connection and only tends the one it has (heartbeats, what the broker
  // has to say), which is to happen every second while nothing is received. Else it reconnects by itself, once a call; throws
  // Fault(source_unavailable) while that does not work and Fault(source_refused) where somebody has to help, and has then
  // appended nothing.
  virtual void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) = 0;

  // In the order of their receipt as far as possible: then a source that can acknowledges many with one word. A tag is
  // known until it is settled: the first word counts. Tags that it does not know (the ack timeout passed, the connection
  // was lost) are counted in settle_failed and otherwise ignored: the message comes back. Throws
  // Fault(source_unavailable) when the connection was lost; nothing is to be repeated then, its tags are no longer known.
  virtual void settle(std::span<const Settlement> settlements) = 0;

  // Lets a receive() that waits return, or the next one that would wait: a wake is never lost, and several are one. The
  // only call that another thread may make.
  virtual void wake() noexcept = 0;

  // How long a delivery may stay unsettled before it is handed to somebody else; nothing where there is no such time.
  virtual std::optional<std::chrono::milliseconds> ack_timeout() const = 0;
  // Whether every delivery has a position in a stream that was taken over from a StreamKeeper.
  virtual bool has_positions() const { return false; }
  virtual SourceCounters counters() const = 0;
  // For messages to people: kind, host and queue, without credentials.
  virtual std::string describe() const = 0;
};

}  // namespace onceward
