// What the world did to us: thrown by ports, caught in one place per loop, which reads only what it poisons and
// whether trying again can help. Codes are stable; docs/reference/faults.md has a line for each.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace onceward {

enum class FaultCode : std::uint8_t {
  lost_race,              // deadlock, serialization failure, a key that vanished: run the transaction again
  busy,                   // somebody held a lock past our deadline
  timed_out,              // a statement passed its time bound and was cancelled
  store_unavailable,      // refused, unreachable, shutting down, connection lost
  store_full,             // no space, no memory, too many connections
  store_refused,          // wrong password, missing database, no permission
  store_read_only,        // a standby, a read-only server or file
  store_corrupt,          // damaged file or index
  schema_missing,         // run `onceward store migrate`
  schema_newer,           // this program is older than the tables
  scheme_changed,         // a consumer's key scheme or hash differs from the one it was enrolled with
  version_affected,       // a SQLite with the WAL-reset bug and a use that it does not allow
  constraint_violated,    // a unique, foreign-key, check or not-null constraint of the user's
  fact_exists,            // the fact (aggregate type, id, version, event type) was staged before
  call_conflict,          // a call under the same key with other content was staged before
  statement_failed,       // any other error of a statement
  source_unavailable,     // the broker is refused, unreachable, shutting down, connection lost
  source_refused,         // the broker says no: wrong password, missing queue, no permission
  publisher_unavailable,  // the same two, of a broker that we publish to
  publisher_refused,
  endpoint_unavailable,  // an external system is unreachable
  endpoint_refused,      // it says no, or answers what its declaration does not describe
  transaction_failed,    // used after a statement of the same transaction had failed
};

std::string_view code(FaultCode fault);

// What is no longer usable. `process`: nothing here can be trusted; end it, restart is a tested path.
enum class Poisons : std::uint8_t { transaction, connection, process };

class Fault : public std::exception {
 public:
  Fault(FaultCode fault, Poisons poisons, std::string message, std::string store_code = {})
      : fault_(fault), poisons_(poisons), message_(std::move(message)), store_code_(std::move(store_code)) {}

  FaultCode fault() const { return fault_; }
  Poisons poisons() const { return poisons_; }
  // The store's own code (SQLSTATE, or SQLite's extended result code), for logs.
  const std::string& store_code() const { return store_code_; }
  // One line: what happened and what to do. Holds no payload and no secret.
  const char* what() const noexcept override { return message_.c_str(); }
  // Whether the same transaction, run again, may succeed without anybody's help.
  bool transient() const {
    return fault_ == FaultCode::lost_race || fault_ == FaultCode::busy || fault_ == FaultCode::store_unavailable ||
           fault_ == FaultCode::source_unavailable || fault_ == FaultCode::publisher_unavailable ||
           fault_ == FaultCode::endpoint_unavailable;
  }

 private:
  FaultCode fault_;
  Poisons poisons_;
  std::string message_;
  std::string store_code_;
};

}  // namespace onceward
