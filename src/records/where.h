// The conditions of a filter, put behind one another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/records/statement.h"

namespace onceward::records {

class Where {
 public:
  explicit Where(Statement& statement) : statement_(statement) {}

  Statement& add(std::string_view sql) {
    statement_.add(any_ ? " AND " : " WHERE ");
    any_ = true;
    return statement_.add(sql);
  }
  // `sql` and the value, unless there is none.
  template <class T>
  void with(std::string_view sql, const std::optional<T>& value) {
    if (value) add(sql).bind(*value);
  }
  void with(std::string_view sql, const std::string& text) {
    if (!text.empty()) add(sql).bind(text);
  }
  void of_consumer(std::string_view column, const std::string& name) {
    if (name.empty()) return;
    add(column).add(" = (SELECT number FROM {consumer} WHERE name = ").bind(name).add(")");
  }

 private:
  Statement& statement_;
  bool any_ = false;
};

// Which rows of a list that is ordered by its numbers.
struct RowOrder {
  std::optional<std::int64_t> below{};
  bool newest_first = true;
  int limit = 1;
};
// Ends the statement whose conditions `where` has.
inline void add_order(Where& where, Statement& select, std::string_view column, const RowOrder& order) {
  if (order.below) where.add(column).add(" < ").bind(*order.below);
  select.add(" ORDER BY ").add(column).add(order.newest_first ? " DESC LIMIT " : " LIMIT ");
  select.bind(std::int64_t{order.limit});
}

}  // namespace onceward::records
