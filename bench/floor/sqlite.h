// What SQLite allows: the work by hand, without Onceward, into the same tables, and the same one message a transaction.
// Insert first by prepared statements: claims a row a step, since each has its answer; payments and outbox many rows a
// step. Keys are sorted, so that neighbours in the index are written together.
#pragma once

#include <memory>
#include <string>

#include "bench/work/shape.h"

namespace onceward::bench {

struct SqliteFloorOptions {
  std::string path;
  std::int32_t consumer;  // its number
  bool outbox = true;     // without: what a handler that stages nothing is compared with
};

std::unique_ptr<Shape> sqlite_floor(const SqliteFloorOptions& options, const Workload& work);
// Looks each key up before it inserts.
std::unique_ptr<Shape> sqlite_look_up_first(const SqliteFloorOptions& options, const Workload& work);
// One transaction a message; several connections divide the deliveries and wait for one another.
std::unique_ptr<Shape> sqlite_each(const SqliteFloorOptions& options, const Workload& work, std::size_t connections);

}  // namespace onceward::bench
