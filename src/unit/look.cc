#include "src/unit/look.h"

#include "src/unit/faults.h"

namespace onceward {

Rows SessionLook::query_values(std::string_view sql, std::span<const Value> values) {
  check_statement(sql);
  Statements asked;
  asked.add(Statements::no_message, sql, values);
  return session_->query({}, asked.all().front());
}

}  // namespace onceward
