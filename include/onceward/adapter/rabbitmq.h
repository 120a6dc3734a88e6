// RabbitMQ over AMQP 0-9-1: classic and quorum queues. docs/reference/sources.md describes the URL and its options.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/log.h"
#include "onceward/port/publisher.h"
#include "onceward/port/source.h"
#include "onceward/wire_format.h"

namespace onceward {

// Names of options are those of RabbitMQ's own URIs where it has them.
struct RabbitmqConnection {
  struct Host {
    std::string name;
    std::uint16_t port = 0;
  };
  std::vector<Host> hosts;  // tried one after the other, each time from the last that worked
  std::string user = "guest";
  std::string password = "guest";
  std::string vhost = "/";
  bool tls = false;
  std::string ca_file{};           // cacertfile; empty: the system's
  std::string certificate_file{};  // certfile
  std::string key_file{};          // keyfile
  bool verify_peer = true;         // verify=verify_none turns it off
  std::chrono::seconds heartbeat{30};
  std::chrono::milliseconds connect_deadline{10'000};  // connection_timeout
};

struct RabbitmqSourceOptions {
  // What is declared if it is not there; else a missing queue is refused, and none is made.
  enum class Declare : std::uint8_t { nothing, classic, quorum, never };  // never: nothing, by somebody who only looks

  RabbitmqConnection connection{};
  std::string queue{};
  std::uint16_t prefetch = 2'000;  // 1 to 65535, at most so many; without one a broker pushes all it has
  // The broker's consumer_timeout: what is not settled by then ends the channel, and fewer are pushed afterwards.
  std::chrono::milliseconds consumer_timeout{1'800'000};
  // The queue's x-delivery-limit, which AMQP does not tell: a delivery that is the last by it is logged. -1: it has none;
  // nothing: that of a quorum queue which sets none, by the server's version.
  std::optional<std::int32_t> delivery_limit{};
  Declare declare = Declare::nothing;
  WireFormat format = WireFormat::automatic;
  // Where `onceward doctor` may ask for what AMQP does not tell: http[s]://user:password@host:port. A source never does.
  std::string management{};
  EnvelopeLimits limits{};
};

// What AMQP tells of a queue to somebody who only looks.
struct RabbitmqFacts {
  bool queue_is_there = false;  // else the options declare it, when it is used
  std::uint32_t ready = 0;      // messages
  std::uint32_t consumers = 0;
  std::optional<std::int32_t>
      default_delivery_limit{};  // of quorum queues, -1: none; nothing: the server does not tell
};

struct RabbitmqPublisherOptions {
  RabbitmqConnection connection{};
  std::size_t window = 2'000;  // messages without an answer; 1 to 65535
  std::chrono::milliseconds confirm_deadline{30'000};
  WireFormat format = WireFormat::automatic;
};

// A publisher with the one place it publishes to: a queue by its name, through the default exchange, or an exchange.
struct RabbitmqTarget {
  RabbitmqPublisherOptions options{};
  std::string exchange{};     // the destination of a Publication
  std::string routing_key{};  // its key
};

// rabbitmq://[user[:password]@]host[:port][,host[:port]]/vhost?queue=name[&option...], or rabbitmqs:// for TLS. Throws
// Fault(source_refused).
RabbitmqSourceOptions read_rabbitmq_source_url(std::string_view url);
// The same without what is a source's own. Throws Fault(publisher_refused).
RabbitmqPublisherOptions read_rabbitmq_publisher_url(std::string_view url);
// That of a publisher with ?queue=name, or ?exchange=name[&routing_key=key]. Throws Fault(publisher_refused).
RabbitmqTarget read_rabbitmq_target_url(std::string_view url);

// Connects and looks whether the queue is there; the first receive() that asks for messages begins to consume, so that who
// only looks takes nothing. Acknowledges by hand, and never confirmed: RabbitMQ has no answer to an acknowledgement. Throws
// as Source::receive().
std::unique_ptr<Source> open_rabbitmq(const RabbitmqSourceOptions& options, Log& log = silent_log());
// Connects, looks and leaves; makes nothing and takes nothing. Throws as open_rabbitmq().
RabbitmqFacts examine_rabbitmq(const RabbitmqSourceOptions& options);
// Connects. A destination is an exchange, or "" for the default one; the key is the routing key. Publishes persistent
// messages, `mandatory`, with confirms. Throws as Publisher::publish().
std::unique_ptr<Publisher> open_rabbitmq_publisher(const RabbitmqPublisherOptions& options, Log& log = silent_log());
// The same, once the queue or exchange is found to be there; else Fault(publisher_refused).
std::unique_ptr<Publisher> open_rabbitmq_target(const RabbitmqTarget& target, Log& log = silent_log());

}  // namespace onceward
