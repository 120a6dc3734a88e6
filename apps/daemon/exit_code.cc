#include "apps/daemon/exit_code.h"

namespace onceward {

Exit exit_of(FaultCode fault) {
  switch (fault) {
    case FaultCode::lost_race:
    case FaultCode::busy:
    case FaultCode::timed_out:
    case FaultCode::store_unavailable:
    case FaultCode::store_full:
    case FaultCode::store_refused:
    case FaultCode::store_read_only:
    case FaultCode::source_unavailable:
    case FaultCode::publisher_unavailable:
    case FaultCode::source_refused:
    case FaultCode::publisher_refused:
    case FaultCode::endpoint_unavailable:
    case FaultCode::endpoint_refused:
      return Exit::unavailable;
    case FaultCode::schema_missing:
    case FaultCode::schema_newer:
    case FaultCode::scheme_changed:
    case FaultCode::version_affected:
      return Exit::refused;
    case FaultCode::constraint_violated:
    case FaultCode::fact_exists:
    case FaultCode::call_conflict:
      return Exit::conflict;
    case FaultCode::store_corrupt:
    case FaultCode::statement_failed:
    case FaultCode::transaction_failed:
      break;
  }
  return Exit::error;
}

}  // namespace onceward
