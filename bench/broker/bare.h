// A broker by hand: filled and drained by those who do nothing but what they must. Any error prints itself and aborts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/work/workload.h"
#include "onceward/port/source.h"

namespace onceward::bench {

struct BareHeader {
  std::string_view name, value;
};

// A message as it stands on the wire. Where a broker has no property for a text, only its header carries it.
struct BareMessage {
  std::string_view id{}, type{}, producer{}, correlation_id{}, content_type{};
  std::uint64_t seconds = 0;  // the property timestamp; 0: none
  std::string_view key{};     // of a record; a queue is found by its own name
  std::span<const BareHeader> headers{};
  std::string_view body{};
};

// One connection, one thread.
class BareConsumer {
 public:
  explicit BareConsumer(const Numbers& numbers) : numbers_(numbers) {}
  virtual ~BareConsumer() = default;
  // Lends up to `most` messages as they have come; waits a little for the first.
  using Take = std::function<void(const BareMessage&)>;
  virtual void receive(const Take& take, std::size_t most) = 0;
  // The same, as numbers of the work's messages.
  void receive(std::vector<Index>& into, std::size_t most) {
    receive([&](const BareMessage& message) { into.push_back(numbers_.of(message.id)); }, most);
  }
  // The first `count` of all that were received are committed.
  virtual void acknowledge(std::uint64_t count) = 0;

 private:
  const Numbers& numbers_;
};

// One connection, one thread. As many messages may be unconfirmed as Onceward's own publisher allows.
class BarePublisher {
 public:
  virtual ~BarePublisher() = default;
  // What is published between these two may be put on the wire together.
  virtual void begin_burst() {}
  virtual void end_burst() {}
  // Waits while too many are unconfirmed.
  virtual void publish(const BareMessage& message) = 0;
  // How many of the first published are confirmed, all of them, as far as that has been read.
  virtual std::uint64_t confirmed() = 0;
  // Waits until all are.
  virtual void await_confirms() = 0;
};

// A queue or topic of our own. Messages are persistent.
class BareBroker {
 public:
  explicit BareBroker(const Workload& work) : work_(work), numbers_(work) {}
  virtual ~BareBroker() = default;
  virtual std::string name() const = 0;
  virtual std::vector<std::string> settings() const = 0;
  // Makes it anew, empty.
  virtual void make() = 0;
  virtual std::unique_ptr<BarePublisher> open_publisher() = 0;
  virtual std::unique_ptr<BareConsumer> consume() = 0;
  // Onceward's own source on it; a keeper only where there are partitions.
  virtual std::unique_ptr<Source> open_source(std::unique_ptr<StreamKeeper> keeper = nullptr) = 0;
  // Where Onceward's own publisher finds it.
  virtual std::string target_url() const = 0;
  // Of a CloudEvent's attributes among the headers.
  virtual std::string_view attribute_prefix() const = 0;
  // Whether the id and the content type have a place beside the headers.
  virtual bool has_properties() const = 0;

  // Makes it anew, and stores the deliveries in it before it returns: the id and the payload of the work's messages, and
  // nothing that differs between the shapes.
  void fill(std::span<const Index> deliveries);
  // Publishes one of them, and returns when it is sent; always on the same thread.
  void publish(Index message);

 protected:
  const Numbers& numbers() const { return numbers_; }

 private:
  const Workload& work_;
  const Numbers numbers_;
  std::unique_ptr<BarePublisher> publisher_;  // of fill() and publish()
};

enum class QueueKind : std::uint8_t { classic, quorum };
// A server as ONCEWARD_TEST_RABBITMQ names it.
std::unique_ptr<BareBroker> bare_rabbitmq(const std::string& url, const Workload& work, QueueKind kind);
// A server as ONCEWARD_TEST_KAFKA names it; four partitions.
std::unique_ptr<BareBroker> bare_kafka(const std::string& url, const Workload& work);

}  // namespace onceward::bench
