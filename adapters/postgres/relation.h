// A user's relation as the parameters of one statement: each column is an array that the statement unnests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/postgres/column.h"
#include "onceward/transaction.h"

namespace onceward::postgres {

// A statement with `relation` put before it, and its columns as parameters.
struct OverRelation {
  std::string sql;
  std::vector<Column> columns;
};
// Throws Fault where the relation is not one, or the statement begins with WITH RECURSIVE.
OverRelation over(const Relation& relation, std::string_view sql);

}  // namespace onceward::postgres
