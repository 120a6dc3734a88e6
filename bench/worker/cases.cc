#include "bench/worker/cases.h"

#include <algorithm>
#include <stdexcept>

#include "bench/floor/postgres.h"
#include "bench/floor/sqlite.h"
#include "bench/worker/handlers.h"

namespace onceward::bench {
namespace {

// The first consumer that is enrolled in an empty store.
constexpr std::int32_t first_consumer = 1;
constexpr std::size_t share_of_each = 40;

Handler throwing(const Workload& work) { return message_handler(work, Poison::throws); }
Handler failing(const Workload& work) { return message_handler(work, Poison::statement); }
Handler sound(const Workload& work) { return message_handler(work); }

std::vector<WorkerCase> cases_of(Database& database, const WorkerWorks& works, auto floor, auto floor_sql) {
  const auto worker = [&](const char* name) {
    return [&database, job = job_named(name, works.clean.ids)](const Workload& work) {
      return worker_shape(database.open(), work, job);
    };
  };
  const Workload* const clean = &works.clean;
  return {
      {{"floor", clean, floor}, "floor"},
      {{"floor_sql", clean, floor_sql}, "floor_sql"},
      {{"sql", clean, worker("sql")}, "floor_sql"},
      {{"batch", clean, worker("batch")}, "floor"},
      {{"message", clean, worker("message")}, "floor"},
      {{"each", clean, worker("each"), share_of_each}, "floor"},
      {{"duplicates", clean, worker("batch"), 1, true}, "floor"},
      {{"poison_before_sql", &works.ill_typed, worker("sql")}, "floor_sql", "sql"},
      {{"poison_throws", clean, worker("poison_throws")}, "floor", "message"},
      {{"poison_sql", clean, worker("poison_sql")}, "floor", "message"},
  };
}

}  // namespace

WorkerWorks worker_works(Ids ids, std::size_t messages) {
  WorkerWorks works{make_workload({.ids = ids, .deliveries = messages}), {}, {}};
  works.ill_typed = with_ill_typed_fields(works.clean);
  std::ranges::copy_if(works.clean.deliveries, std::back_inserter(works.good),
                       [](Index message) { return !is_poison(message); });
  return works;
}

Job job_named(const std::string& name, Ids ids) {
  if (name == "batch") return job_of(ids, batch_handler);
  if (name == "message") return job_of(ids, sound);
  if (name == "poison_throws") return job_of(ids, throwing);
  if (name == "poison_sql") return job_of(ids, failing);
  if (name == "each") {
    Job job = job_of(ids, sound);
    job.declaration.transaction = TransactionScope::each;
    return job;
  }
  if (name == "sql" || name == "poison_before_sql") {
    Job job = job_of(ids, sql_handler);
    job.declaration.fields = declared_fields();
    return job;
  }
  throw std::invalid_argument(
      name + " is no shape of the worker: sql, batch, message, each, poison_before_sql, poison_throws, poison_sql");
}

std::vector<WorkerCase> worker_cases(PostgresDatabase& database, const WorkerWorks& works) {
  const auto floor = [&database](bool outbox) {
    return [options = FloorOptions{database.url(), first_consumer, outbox}](const Workload& work) {
      return postgres_floor(options, work);
    };
  };
  return cases_of(database, works, floor(true), floor(false));
}

std::vector<WorkerCase> worker_cases(SqliteDatabase& database, const WorkerWorks& works) {
  const auto floor = [&database](bool outbox) {
    return [options = SqliteFloorOptions{database.path(), first_consumer, outbox}](const Workload& work) {
      return sqlite_floor(options, work);
    };
  };
  return cases_of(database, works, floor(true), floor(false));
}

}  // namespace onceward::bench
