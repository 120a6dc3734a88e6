// Where the messages of a run wait, as its supervisor sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/demo/progress.h"
#include "apps/demo/run_directory.h"

namespace onceward::demo {

class Queue {
 public:
  virtual ~Queue() = default;
  // How many messages were not accepted yet; nothing while there is no answer. To ask a real broker takes seconds, and is
  // done only if somebody wants to know it `now`.
  virtual std::optional<std::uint64_t> left(bool now) = 0;
  // Goes on with what is done to the queue itself, at moments that are counted in deliveries. Throws std::runtime_error.
  virtual void tend(std::uint64_t deliveries, Progress& progress) = 0;
  // Whether all that is to be done to it was done, and it serves.
  virtual bool at_rest() const = 0;
  // What is wrong with it at the moment, for people; empty: it serves.
  virtual std::string trouble() const = 0;
  virtual int restarts() const = 0;
};

std::unique_ptr<Queue> embedded_queue(const Run& run);

}  // namespace onceward::demo
