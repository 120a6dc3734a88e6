// The embedded queue: durable, in a SQLite file of its own that several processes of one machine share. For demos, tests
// and local work; not a broker to run in production. docs/reference/sources.md describes it to users.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "onceward/adapter/disturbance.h"
#include "onceward/adapter/queue_depth.h"
#include "onceward/port/publisher.h"
#include "onceward/port/source.h"

namespace onceward {

struct EmbeddedOptions {
  static constexpr std::chrono::milliseconds least_visibility{100};
  static constexpr std::chrono::milliseconds most_visibility{12 * 3'600'000};
  static constexpr std::size_t most_queues = 1'000;             // in one file
  static constexpr std::size_t most_bytes_at_once = 16u << 20;  // that receive() hands out, or one message
  static constexpr std::size_t most_message_bytes = 64u << 20;  // that can be sent

  std::string path;
  std::string queue = "default";
  // The ack timeout, by the clock of the machine: what is not settled by then is handed out again.
  std::chrono::milliseconds visibility{60'000};
  Disturbance disturbance{};
  EnvelopeLimits limits{};                          // of what is received
  std::chrono::milliseconds busy_deadline{30'000};  // for the file's write lock
};

// embedded:path[?queue=name&visibility=60s&duplicates=0.3&reorder=100&seed=7]. Throws Fault(source_refused).
EmbeddedOptions read_embedded_url(std::string_view url);

// Opens the file and the queue, or creates them. Throws Fault(source_refused) where somebody has to help, else
// Fault(source_unavailable).
std::unique_ptr<Source> open_embedded(const EmbeddedOptions& options);

// A destination is the name of a queue of the file, which is made if it is not there; the key has no meaning. Messages are
// our JSON envelopes. Each publish() is one transaction that is durable on return, so that receipts never keep one waiting.
// Throws as open_embedded(), with the codes of publishers.
std::unique_ptr<Publisher> open_embedded_publisher(const EmbeddedOptions& options);

// The other end of the queue. Belongs to one thread.
class EmbeddedSender {
 public:
  // As open_embedded().
  explicit EmbeddedSender(const EmbeddedOptions& options);
  ~EmbeddedSender();
  EmbeddedSender(const EmbeddedSender&) = delete;
  EmbeddedSender& operator=(const EmbeddedSender&) = delete;

  // Puts the messages behind those that are there, in one transaction that is durable on return. Their bytes are kept as
  // they are and read by whoever receives them: our JSON envelope or a CloudEvent in structured mode. After a Fault they
  // are there or not, all of them: send them again, since a duplicate is harmless.
  void send(std::span<const std::string_view> messages);

  QueueDepth depth();

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace onceward
