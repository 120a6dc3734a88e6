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

}  // namespace onceward::records
