#include "src/unit/faults.h"

#include <utility>

#include "src/effect/sql_text.h"

namespace onceward {

Fault refused(const char* what) { return {FaultCode::statement_failed, Poisons::transaction, what}; }

Fault transaction_gone() {
  return {FaultCode::transaction_failed, Poisons::transaction,
          "the transaction has ended with the statement that failed, its marks with it: begin a new one"};
}

Fault unit_still_open() {
  return {FaultCode::transaction_failed, Poisons::transaction,
          "a unit of work or a look of this store is still open: one at a time; open another store for another worker"};
}

Fault only_reads() { return refused("a look only reads: begin a unit of work to write"); }

void check_statement(std::string_view sql) {
  if (sql.find('\0') != std::string_view::npos) throw refused("a statement holds a NUL byte");
  if (controls_transaction(sql)) {
    throw refused("a handler cannot begin, end or divide its transaction, nor change its settings");
  }
}

Fault fact_exists(std::string store_code) {
  return {FaultCode::fact_exists, Poisons::transaction,
          "a unique fact (aggregate type, id, version and event type) was staged before: two messages tell of the same "
          "step, or a version was used twice",
          std::move(store_code)};
}

Fault call_conflict(std::string store_code) {
  return {FaultCode::call_conflict, Poisons::transaction,
          "a call was staged before under the same key with other content: a key must name one business action",
          std::move(store_code)};
}

}  // namespace onceward
