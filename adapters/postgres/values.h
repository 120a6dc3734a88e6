// Between our values and PostgreSQL's: parameters of users' statements, and the rows of their queries.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "adapters/postgres/column.h"
#include "adapters/postgres/connection.h"
#include "onceward/transaction.h"

namespace onceward::postgres {

// The parameters of one statement; borrows text and bytes, which must have a NUL behind them.
class ValueParameters {
 public:
  std::span<const Parameter> encode(std::span<const Value> values);

 private:
  std::vector<Parameter> parameters_;
  std::string scratch_;
};

// Results in text format.
Rows rows_of(const PGresult* result);
std::int64_t rows_changed(const PGresult* result);

}  // namespace onceward::postgres
