// A database of our own, "onceward_bench", on the server that we are given; dropped at the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "bench/work/database.h"

namespace onceward::bench {

using DeadRows = std::map<std::string, std::uint64_t>;  // by table, of those that have any

class PostgresDatabase : public Database {
 public:
  virtual const std::string& url() const = 0;
  virtual DeadRows dead_rows_by_table() = 0;
};

std::unique_ptr<PostgresDatabase> postgres_database(const std::string& server_url);

}  // namespace onceward::bench
