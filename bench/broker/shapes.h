// The ways to bring the work from a broker into PostgreSQL, each filled by run() before its clock starts.
#pragma once

#include <memory>
#include <string>

#include "bench/broker/bare.h"
#include "bench/floor/postgres.h"
#include "bench/work/database.h"
#include "bench/work/shape.h"

namespace onceward::bench {

// Receives and acknowledges, and does nothing with it.
std::unique_ptr<Shape> raw_drain(BareBroker& broker);
// By hand: one thread receives and acknowledges, another commits batches of what has come; two batches in flight.
std::unique_ptr<Shape> bare_consumer(BareBroker& broker, const FloorOptions& options, const Workload& work);
// As most are written: a transaction a message, on so many threads with a connection each.
std::unique_ptr<Shape> each_consumer(BareBroker& broker, const FloorOptions& options, const Workload& work,
                                     std::size_t workers);
// The same for a consumer that trusts its producer: offsets in the transaction, and no inbox.
std::unique_ptr<Shape> bare_by_position(BareBroker& broker, const FloorOptions& options, const Workload& work);
// Onceward's worker; with offsets in the inbox or in the store.
std::unique_ptr<Shape> onceward_consumer(BareBroker& broker, Database& database, const Workload& work,
                                         Offsets offsets = Offsets::inbox);

}  // namespace onceward::bench
