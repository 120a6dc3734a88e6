// What PostgreSQL allows: the work as a careful engineer writes it by hand for this one case, without Onceward, into
// the same tables. Two pipelined trips a batch: BEGIN and the claim; then the look-up of the repeats, payments,
// folded balances, outbox, COMMIT. Every array is binary, every statement prepared once, the keys are sorted, and what
// is the same for all rows is sent once.
#pragma once

#include <memory>
#include <string>

#include "bench/work/shape.h"

namespace onceward::bench {

struct FloorOptions {
  std::string url;
  std::int32_t consumer;  // its number
  bool outbox = true;     // without: what a handler that stages nothing is compared with
};

// The same, fed by somebody else: one connection, one thread.
class PostgresBatches {
 public:
  virtual ~PostgresBatches() = default;
  virtual void commit(std::span<const Index> deliveries) = 0;
  virtual Effort effort() const = 0;
};
std::unique_ptr<PostgresBatches> postgres_batches(const FloorOptions& options, const Workload& work);

std::unique_ptr<Shape> postgres_floor(const FloorOptions& options, const Workload& work);

}  // namespace onceward::bench
