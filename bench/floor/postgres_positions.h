// What PostgreSQL allows a consumer that trusts its producer: effects, outbox and offsets in one transaction and one trip,
// without an inbox.
#pragma once

#include <memory>

#include "bench/floor/postgres.h"

namespace onceward::bench {

std::unique_ptr<PostgresBatches> postgres_positions(const FloorOptions& options, const Workload& work);

}  // namespace onceward::bench
