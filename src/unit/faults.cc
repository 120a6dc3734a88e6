#include "src/unit/faults.h"

#include <utility>

namespace onceward {

Fault refused(const char* what) { return {FaultCode::statement_failed, Poisons::transaction, what}; }

Fault transaction_gone() {
  return {FaultCode::transaction_failed, Poisons::transaction,
          "the transaction has ended with the statement that failed, its marks with it: begin a new one"};
}

Fault unit_still_open() {
  return {FaultCode::transaction_failed, Poisons::transaction,
          "a unit of work of this store is still open: one at a time; open another store for another worker"};
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
