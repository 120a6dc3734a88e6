// Other shapes on PostgreSQL, printed for information.
#pragma once

#include "bench/floor/postgres.h"

namespace onceward::bench {

// Looks the keys up, then inserts plainly what was not found: a racer's duplicate aborts the whole batch.
std::unique_ptr<Shape> postgres_look_up_first(const FloorOptions& options, const Workload& work);
// Claim and effects in one statement, which commits by itself: one trip. Repeats are not compared.
std::unique_ptr<Shape> postgres_one_statement(const FloorOptions& options, const Workload& work);
// The floor's two trips with a statement a row instead of a statement a table.
std::unique_ptr<Shape> postgres_row_by_row(const FloorOptions& options, const Workload& work);

}  // namespace onceward::bench
