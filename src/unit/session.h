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
#include "src/unit/passage.h"

namespace onceward {

struct OutcomeRow {
  const Claimant* claimant;
  Recorded recorded;
  std::optional<std::chrono::milliseconds> retry_after;
  bool replaces = false;  // what the store kept of a message that waited
  bool unseen = false;    // the message has no row in the inbox yet
  bool keeps_body() const { return recorded.state == State::retryable_failed || recorded.state == State::quarantined; }
};

struct AttemptRow {
  Key message;
  Attempt attempt;
  std::string code;
};

// As the table `attempt` names them.
constexpr std::string_view kind_of(Attempt attempt) {
  return attempt == Attempt::start ? "start" : attempt == Attempt::failure ? "failure" : "void";
}

// Everything of ours that a transaction writes besides its claims, in this order: what is parked tells the attempts that
// were counted, and what was sent again may be parked anew.
struct Writes {
  std::span<const AttemptRow> attempts;
  std::span<const OutcomeRow> outcomes;
  std::span<const std::int64_t> resolved;  // rows of the quarantine
  std::span<const Parked* const> parked;
  std::span<const StagedOutgoing> outgoing;
  std::span<const StagedCall> calls;
  std::span<const Advance> advances;
  bool believed = false;  // the streams that advance are not held
};

// What a store said no to, as far as it told.
struct RefusedWork {
  std::uint32_t message = Statements::no_message;  // whose own statement it was
  std::optional<Key> row;                          // the fact or the call that was staged
};

// Intents of calls that were there before they were written.
struct Repeats {
  std::string endpoint;
  std::uint64_t times = 0;
};

class Session {
 public:
  virtual ~Session() = default;

  // Claims identities and operations. Repeats may stay unresolved until look_up(), flush() or commit().
  virtual void claim(Batch& batch) = 0;
  virtual void look_up(Batch& batch) = 0;
  // Holds those that wait, and that nobody else holds, until the transaction ends, and calls them claimed.
  virtual void resume(Batch& batch) = 0;

  // Holds these streams until the transaction ends; those that nobody ever took over are not in it.
  virtual Streams hold(std::span<const std::string_view> streams) = 0;
  // What they are by all that this connection knows, without asking and without holding them; nothing where it does not
  // know. Who believes it says so with its advances, and they are refused with Fault(lost_race) where it is not so.
  virtual std::optional<Streams> remembered(std::span<const std::string_view>) { return std::nullopt; }
  virtual std::vector<TakenOver> take_over(std::span<const std::string> streams) = 0;
  // Nothing if the epoch has passed.
  virtual std::optional<Stream> begin_stream(const Stream& stream, std::int64_t next) = 0;

  virtual std::vector<int> attempts(std::span<const Key> messages) = 0;
  virtual std::vector<Kept> take_due(std::size_t most, std::chrono::milliseconds lease) = 0;
  virtual std::optional<Kept> start_due(std::chrono::milliseconds lease) = 0;

  virtual void run(std::span<const BufferedStatement> statements) = 0;
  virtual void run_over(const Relation& relation, std::string_view sql) = 0;
  // Run after `before`, and wait.
  virtual std::int64_t count(std::span<const BufferedStatement> before, const BufferedStatement& statement) = 0;
  virtual Rows query(std::span<const BufferedStatement> before, const BufferedStatement& statement) = 0;

  virtual void write(const Writes& writes) = 0;
  // What has been found of the calls that were written, since it was last asked; complete after flush() and commit().
  virtual std::vector<Repeats> repeats() = 0;
  virtual Cancelled cancel_call(const Key& call, std::string_view who) = 0;
  // Wait for all that was run and written; back_to_mark() undoes what came after.
  virtual void mark() = 0;
  virtual void back_to_mark() = 0;
  // Of the call that threw last.
  virtual RefusedWork refused() const = 0;
  // Wait for all that was run and written, and resolve what is left of the batch (if there is one).
  virtual void flush(Batch* batch) = 0;
  virtual Commit commit(Batch* batch) = 0;
  // Never throws: a transaction that cannot be undone takes its connection with it.
  virtual void roll_back() = 0;
  virtual bool in_transaction() const = 0;
};

}  // namespace onceward
