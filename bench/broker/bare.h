// A broker by hand: filled before the clock starts, then drained by consumers that do nothing but what they must. Any error
// prints itself and aborts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/work/workload.h"
#include "onceward/port/source.h"

namespace onceward::bench {

// One connection, one thread.
class BareConsumer {
 public:
  virtual ~BareConsumer() = default;
  // Appends up to `most` messages as they have come; waits a little for the first.
  virtual void receive(std::vector<Index>& into, std::size_t most) = 0;
  // The first `count` of all that were received are committed.
  virtual void acknowledge(std::uint64_t count) = 0;
};

// A queue or topic of our own. Messages are persistent, with the id and the payload of the work; nothing else in them
// differs between the shapes.
class BareBroker {
 public:
  virtual ~BareBroker() = default;
  virtual std::string name() const = 0;
  virtual std::vector<std::string> settings() const = 0;
  // Makes it anew, and stores the deliveries in it before it returns.
  virtual void fill(std::span<const Index> deliveries) = 0;
  virtual std::unique_ptr<BareConsumer> consume() = 0;
  // How many consumers of one thread each may share what was filled.
  virtual std::size_t most_consumers() const = 0;
  // Onceward's own source on it; a keeper only where there are partitions.
  virtual std::unique_ptr<Source> open_source(std::unique_ptr<StreamKeeper> keeper = nullptr) = 0;
  // Publishes one, and returns when it is stored or sent; on a connection of its own thread.
  virtual void publish(Index message) = 0;
};

enum class QueueKind : std::uint8_t { classic, quorum };
// A server as ONCEWARD_TEST_RABBITMQ names it.
std::unique_ptr<BareBroker> bare_rabbitmq(const std::string& url, const Workload& work, QueueKind kind);
// A server as ONCEWARD_TEST_KAFKA names it; four partitions.
std::unique_ptr<BareBroker> bare_kafka(const std::string& url, const Workload& work);

}  // namespace onceward::bench
