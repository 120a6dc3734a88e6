// A queue in memory, for tests and benchmarks: the contract of Source in one process, without a file. What it holds is
// gone with it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "onceward/adapter/disturbance.h"
#include "onceward/adapter/queue_depth.h"
#include "onceward/port/source.h"

namespace onceward {
namespace memory {
class Queue;
}

struct MemoryOptions {
  std::optional<std::chrono::milliseconds> ack_timeout{};  // none: only a source that is closed gives back
  Disturbance disturbance{};
  EnvelopeLimits limits{};  // of bytes that are pushed
};

// Every member may be called by any thread. A call locks once, however many messages it is about; a message is read when
// it is pushed, and a delivery shares its bytes.
class MemoryQueue {
 public:
  // Throws Fault(source_refused) for a disturbance past its limits.
  explicit MemoryQueue(const MemoryOptions& options = {});

  void push(std::span<const Envelope> envelopes);
  // Our JSON envelopes, or CloudEvents in structured mode. Bytes that are refused are delivered with their refusal.
  void push(std::span<const std::string_view> messages);

  // One of any number of sources, which share the messages. They may outlive this.
  std::unique_ptr<Source> open();
  QueueDepth depth() const;

 private:
  std::shared_ptr<memory::Queue> queue_;  // with every source that is open
};

}  // namespace onceward
