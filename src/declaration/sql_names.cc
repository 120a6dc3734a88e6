#include "src/declaration/sql_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace onceward::declaration {
namespace {

constexpr std::string_view columns[] = {
    "message_id",     "event_id",      "command_id",
    "type",           "event_version", "schema_version",
    "aggregate_type", "aggregate_id",  "aggregate_version",
    "correlation_id", "causation_id",  "idempotency_key",
    "business_key",   "partition_key", "tenant",
    "producer",       "source",        "occurred_at",
    "received_at",    "mode",          "content_type",
    "trace_parent",   "headers",       "payload",
    "payload_hash",   "message_key",   "ordinal",
};

// Reserved in PostgreSQL 15 or not taken as a column's name by SQLite: both would ask for quotes in every statement.
constexpr std::string_view reserved[] = {
    "add",
    "all",
    "alter",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "autoincrement",
    "between",
    "binary",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "collation",
    "column",
    "commit",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "delete",
    "desc",
    "distinct",
    "do",
    "drop",
    "else",
    "end",
    "escape",
    "except",
    "exists",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "index",
    "initially",
    "inner",
    "insert",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "nothing",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "select",
    "session_user",
    "set",
    "similar",
    "some",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "transaction",
    "true",
    "union",
    "unique",
    "update",
    "user",
    "using",
    "values",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_column_character(char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; }
bool is_column(std::string_view name) {
  return !name.empty() && is_lower(name.front()) && std::ranges::all_of(name, is_column_character);
}

// orderId and order-id as order_id; what is still no column's name stays unsaid.
std::string snake_case(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (is_upper(c) && !result.empty() && result.back() != '_') result += '_';
    if (is_upper(c))
      result += static_cast<char>(c - 'A' + 'a');
    else
      result += c == '-' || c == '.' || c == ' ' ? '_' : c;
  }
  return result;
}

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string hint_for(std::string_view name) {
  const std::string better = snake_case(name);
  if (is_column(better)) return fmt::format("write {}", better);
  return "a lower-case letter, then lower-case letters, digits and '_': it is a column in SQL without quotes";
}

}  // namespace

std::span<const std::string_view> message_columns() { return columns; }

std::optional<WrongColumn> wrong_with_column(std::string_view name) {
  if (name.size() > most_column_bytes)
    return WrongColumn{fmt::format("has {} bytes, more than {}", name.size(), most_column_bytes),
                       "PostgreSQL cuts longer names"};
  if (!is_column(name)) return WrongColumn{"is not the name of a column", hint_for(name)};
  if (holds(columns, name))
    return WrongColumn{"is a column that every message has", fmt::format("name it otherwise, e.g. {}_value", name)};
  if (holds(reserved, name))
    return WrongColumn{"is a reserved word of SQL", fmt::format("name it otherwise, e.g. {}_value", name)};
  if (name.starts_with("onceward_")) return WrongColumn{"begins with onceward_", "those names are ours"};
  return std::nullopt;
}

}  // namespace onceward::declaration
