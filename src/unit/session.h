// What a store can do inside one transaction, for a whole batch at a time. The unit decides what and when; a session
// only knows how. A call that need not wait may leave its work to the next one that does; nothing is lost by it, since
// commit() and flush() wait for everything. Throws Fault.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "onceward/port/store.h"
#include "src/effect/statements.h"
#include "src/inbox/batch.h"
#include "src/outbox/staging.h"
#include "src/quarantine/parked.h"

namespace onceward {

struct OutcomeRow {
  const Claimant* claimant;
  Recorded recorded;
  std::optional<std::chrono::milliseconds> retry_after;
  bool keeps_body() const { return recorded.state == State::retryable_failed || recorded.state == State::quarantined; }
};

// Everything of ours that a transaction writes besides its claims.
struct Writes {
  std::span<const OutcomeRow> outcomes;
  std::span<const Parked> parked;
  std::span<const StagedOutgoing> outgoing;
  std::span<const StagedCall> calls;
};

class Session {
 public:
  virtual ~Session() = default;

  // Claims identities and operations. Repeats may stay unresolved until look_up(), flush() or commit().
  virtual void claim(Batch& batch) = 0;
  virtual void look_up(Batch& batch) = 0;

  virtual void run(std::span<const BufferedStatement> statements) = 0;
  virtual void run_over(const Relation& relation, std::string_view sql) = 0;
  // Run after `before`, and wait.
  virtual std::int64_t count(std::span<const BufferedStatement> before, const BufferedStatement& statement) = 0;
  virtual Rows query(std::span<const BufferedStatement> before, const BufferedStatement& statement) = 0;

  virtual void write(const Writes& writes) = 0;
  // Wait for all that was run and written, and resolve what is left of the batch (if there is one).
  virtual void flush(Batch* batch) = 0;
  virtual Commit commit(Batch* batch) = 0;
  // Never throws: a transaction that cannot be undone takes its connection with it.
  virtual void roll_back() = 0;
  virtual bool in_transaction() const = 0;
};

}  // namespace onceward
