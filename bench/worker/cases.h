// The shapes of `bench worker` on one store, each with the floor that it is compared with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/work/postgres_database.h"
#include "bench/work/rounds.h"
#include "bench/work/sqlite_database.h"
#include "bench/worker/worker_shape.h"

namespace onceward::bench {

struct WorkerWorks {
  Workload clean;
  Workload ill_typed;       // the same, where those that are poison have a field of the wrong type
  std::vector<Index> good;  // the deliveries of those that are not
};
WorkerWorks worker_works(Ids ids, std::size_t messages);

struct WorkerCase {
  Case shape;
  std::string floor;    // which one does the same work
  std::string clean{};  // of poison: the shape without it
};

std::vector<WorkerCase> worker_cases(PostgresDatabase& database, const WorkerWorks& works);
std::vector<WorkerCase> worker_cases(SqliteDatabase& database, const WorkerWorks& works);

// The worker's part of those alone, for a profiler; throws std::invalid_argument for other names.
Job job_named(const std::string& name, Ids ids);

}  // namespace onceward::bench
