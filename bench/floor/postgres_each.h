// One transaction a message on PostgreSQL, as most consumers are written: BEGIN, claim, payment, balance, outbox, COMMIT,
// each a statement and a trip of its own. Prepared, binary. Several connections divide the deliveries.
#pragma once

#include "bench/floor/postgres.h"

namespace onceward::bench {

// One of those connections, fed by somebody else.
std::unique_ptr<PostgresBatches> postgres_one_by_one(const FloorOptions& options, const Workload& work);

std::unique_ptr<Shape> postgres_each(const FloorOptions& options, const Workload& work, std::size_t connections);

}  // namespace onceward::bench
