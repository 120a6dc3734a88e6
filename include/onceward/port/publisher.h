// The port to where messages go. A Publisher is one connection and belongs to one thread. It takes messages while it has
// room, and tells of each what the broker said: the answers come later than the messages, and in any order.
//
// Nothing is called published that the broker has not confirmed. What is in doubt may be there or not: it is published
// again with the same id and the same bytes, and whoever receives it finds the duplicate.
//
// The contract is executable: tests/conformance/publisher runs on every adapter.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "onceward/fault.h"

namespace onceward {

// A message and where it goes. Borrowed until publish() returns.
struct Publication {
  std::uint64_t tag = 0;           // the caller's own name for it, given back with the receipt
  std::string_view destination{};  // an exchange, a topic, a queue
  std::string_view key{};          // the routing key, or the key that orders and partitions; may be empty
  Envelope envelope;               // with its exact payload
};

struct Receipt {
  enum class Kind : std::uint8_t {
    confirmed,  // routed, and kept as safely as its destination keeps messages
    refused,  // this time surely not there (if it was in doubt before, it may be from then), and the same message would be
              // refused again: no route, too large, not allowed
    put_off,   // surely not there, and later it may be: the broker is full or busy
    in_doubt,  // sent, and not answered: it may be there
  };
  std::uint64_t tag = 0;
  Kind kind = Kind::confirmed;
  std::string why{};  // for people, of all but confirmed; holds no payload
};

struct PublisherCounters {
  std::uint64_t published = 0;  // taken by publish()
  std::uint64_t confirmed = 0;
  std::uint64_t refused = 0;
  std::uint64_t put_off = 0;
  std::uint64_t in_doubt = 0;
  std::uint64_t reconnects = 0;
};

class Publisher {
 public:
  // What has no receipt yet is in doubt.
  virtual ~Publisher() = default;

  // How many more messages it takes before receipts must be collected. Never 0 while nothing is outstanding.
  virtual std::size_t room() const = 0;
  // Published, and their receipts not yet handed out.
  virtual std::size_t outstanding() const = 0;

  // Takes these messages, no more than room(), to be published in this order. Reconnects by itself, once a call; throws
  // Fault(publisher_unavailable) while that does not work and Fault(publisher_refused) where somebody has to help, and has
  // then taken none of them. A connection that is lost on the way is no fault: it makes receipts that are in doubt.
  // Given no message, it only finds out whether it is connected.
  virtual void publish(std::span<const Publication> publications) = 0;

  // Appends the receipts that have come, one for each message. Returns at once if there are any or nothing is outstanding,
  // else when one comes, when wake() was called, or after `wait`. A message without an answer by its deadline is in doubt.
  // Also tends the connection: call it now and then while nothing is published.
  virtual void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait) = 0;

  // Lets a collect() that waits return, or the next one that would wait. The only call that another thread may make.
  virtual void wake() noexcept = 0;

  virtual PublisherCounters counters() const = 0;
  // For messages to people: kind and host, without credentials.
  virtual std::string describe() const = 0;
};

// Publishes all of them and waits for every receipt, given back in the order of the messages; their tags are set here. For
// those who have nothing else to do meanwhile. What is put off or in doubt goes again, one or more times, while that settles
// some of it: a broker that refuses one of many may not say which. What has not been answered after `deadline` is in doubt. Throws the Fault of
// the first publish(); after that nothing: what could not be taken is put off.
std::vector<Receipt> publish_all(Publisher& publisher, std::span<Publication> publications,
                                 std::chrono::milliseconds deadline);

}  // namespace onceward
