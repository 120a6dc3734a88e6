#include "src/effect/relation.h"

#include <fmt/format.h>

#include <string>

#include "onceward/fault.h"

namespace onceward {
namespace {

Fault refused(std::string what) { return {FaultCode::statement_failed, Poisons::transaction, std::move(what)}; }

void check_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool good = !name.empty() && name.size() <= 63 && letter(name.front());
  for (const char c : name) good = good && (letter(c) || (c >= '0' && c <= '9'));
  if (!good) {
    throw refused(
        "a relation and its columns are named by letters, digits and '_', at most 63, not beginning with a digit");
  }
}

}  // namespace

std::size_t checked_rows(const Relation& relation) {
  check_identifier(relation.name);
  if (relation.columns.empty() || relation.columns.size() > most_relation_columns) {
    throw refused(fmt::format("a relation has 1 to {} columns", most_relation_columns));
  }
  const std::size_t rows = rows_of(relation.columns.front());
  for (const Column& column : relation.columns) {
    check_identifier(column.name);
    if (rows_of(column) != rows || (!column.present.empty() && column.present.size() != rows)) {
      throw refused(fmt::format("the columns of relation {} differ in length", relation.name));
    }
    const auto* const decimals = std::get_if<Decimals>(&column.values);
    if (decimals != nullptr && (decimals->scale < 0 || decimals->scale > 18)) {
      throw refused(fmt::format("the scale of column {} is outside 0 to 18", column.name));
    }
  }
  return rows;
}

}  // namespace onceward
