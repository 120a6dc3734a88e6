// The identities that a message carries, each with a type of its own so that none is taken for another.
// An Id borrows its text: inside an Envelope the envelope's storage keeps it alive.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace onceward {

using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::string_view text) : text_(text) {}

  constexpr std::string_view text() const { return text_; }
  constexpr bool empty() const { return text_.empty(); }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::string_view text_;
};

using Tenant = Id<struct TenantTag>;        // who owns the data; part of every key
using Producer = Id<struct ProducerTag>;    // the logical producer, never a queue or topic
using MessageId = Id<struct MessageIdTag>;  // this message, the same on every redelivery
using EventId = Id<struct EventIdTag>;      // a fact of the domain
using CommandId = Id<struct CommandIdTag>;  // one requested action, named by its caller
using EventType = Id<struct EventTypeTag>;
using AggregateType = Id<struct AggregateTypeTag>;
using AggregateId = Id<struct AggregateIdTag>;        // the entity whose order matters
using CorrelationId = Id<struct CorrelationIdTag>;    // groups a journey; never a dedup key
using CausationId = Id<struct CausationIdTag>;        // what caused this message
using IdempotencyKey = Id<struct IdempotencyKeyTag>;  // one effect; unique where the consumer declares it
using BusinessKey = Id<struct BusinessKeyTag>;        // a look-up, not unique

// The fixed-width key under which a message or an operation is claimed. Its grammar stands in src/envelope/key.h.
struct Key {
  std::array<unsigned char, 16> bytes{};
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct PayloadHash {
  std::array<unsigned char, 32> bytes{};
  friend auto operator<=>(const PayloadHash&, const PayloadHash&) = default;
};

// The key as operators see it: a UUID in lower case, as PostgreSQL prints it.
std::string to_string(const Key& key);

}  // namespace onceward
