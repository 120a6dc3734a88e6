// The port to the user's database. Claim, effect, outcome and everything staged commit as one, or not at all.
//
// A Store is one connection and belongs to one thread; more workers open more stores. Calls wait no longer than the
// store's options say and throw Fault when the world is in the way; expected answers are values.
//
// The contract is executable: tests/conformance runs on every adapter.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/claim.h"
#include "onceward/fault.h"
#include "onceward/transaction.h"

namespace onceward {

// A consumer known to the store. Made by Store::enroll, valid in every store on the same database.
struct Enrolled {
  std::int32_t number = 0;  // 0: a producer that consumes nothing
  std::string name;
  KeyScheme scheme = KeyScheme::hash;
  Offsets offsets = Offsets::inbox;
  bool dead_letters = false;  // what is parked is staged, too
};

// Our part in one open transaction, whoever opened it. After anything has thrown, the only way on is a rollback: a unit
// of work does that by itself, a caller in its own transaction must.
//
// In the caller's own transaction, an Enlistment that is destroyed with work that flush() has not written, while the
// transaction is open and no exception is in flight, ends the process: what was staged would be lost in silence.
class Enlistment {
 public:
  virtual ~Enlistment() = default;

  // Claims the whole batch; at most once. On return first() is known for each. A claim that another transaction
  // holds uncommitted is waited for. Messages keep their index in `batch`, which must outlive this object.
  // Of a consumer whose offsets are kept by the store, all have positions, those of a stream in their order. The streams are
  // held until the transaction ends, and with it move past every message that is first. Throws Fault(statement_failed) for a
  // message whose predecessor was not passed.
  virtual void claim(std::span<const Claimant> batch) = 0;
  virtual bool claimed() const = 0;
  virtual bool first(std::size_t index) const = 0;

  // The answer for each message. Before the commit it may cost a round trip; after it, none. Messages that share an
  // identity inside the batch are answered too; a duplicate of a message of this very batch carries the outcome
  // recorded by finish(). Throws Fault(transaction_failed) after a commit that failed or is in doubt, and
  // Fault(lost_race) where a row that stood in the way was purged before it could be read: claim again.
  virtual std::span<const Answer> answers() = 0;

  // The transaction as the handler of message `index` sees it; what it stages is caused by that message. Valid until
  // the next call of on() or whole(). Only for messages that are first.
  virtual Transaction& on(std::size_t index) = 0;
  // Takes back what message `index` has buffered and staged; its claim stays, so it must be given an outcome by finish()
  // before the unit can be flushed or committed. False if some of it was already sent (a query or flush() forced it):
  // then only a rollback undoes it.
  virtual bool forget(std::size_t index) = 0;
  // The transaction as a whole: for statements over the batch, and for producers without an inbound message.
  virtual Transaction& whole() = 0;

  // The outcome of a first message. One that is not finished by the commit is plain Done. Retry and Failed keep the
  // message's bytes with the outcome.
  virtual void finish(std::size_t index, Outcome outcome) = 0;

  // Keeps a message that was refused, with its bytes, identity and reason: `reason` is a stable code, `detail` holds
  // no payload. The same message parked twice for the same reason is one row.
  virtual void park(const Envelope& envelope, std::string_view reason, std::string_view detail) = 0;
  // The same for a message that has an identity by its consumer's policy: a conflict.
  virtual void park(const Claimant& claimant, std::string_view reason, std::string_view detail) = 0;

  // Writes what was buffered, staged and finished. In the caller's own transaction this is the last call before its
  // COMMIT; a unit of work does it by itself.
  virtual void flush() = 0;
};

enum class Commit : std::uint8_t {
  committed,  // durable
  failed,     // nothing of it remains
  in_doubt,   // asked, and not answered: claim again to know
};

// A message that the store keeps, because it waits for its next attempt or because a person sent it again.
struct Kept {
  Envelope envelope;            // with its exact payload
  std::optional<Key> key;       // of its inbox row; nothing where it was refused before it had one
  std::int64_t quarantine = 0;  // the number of its quarantine row; 0: none
  int attempts = 0;             // used so far, the one that begins now included
};

enum class Attempt : std::uint8_t {
  start,       // counted before a message runs alone, so that one that kills the process is counted too
  failure,     // of a message that ran among others
  given_back,  // an outage ended the attempt: it does not count
};

// A transaction of ours. Destroyed uncommitted, everything is undone, the claims too.
class UnitOfWork : public Enlistment {
 public:
  // Waits until all that was run so far is known to have worked, and remembers this place. At most 32 in a unit.
  virtual void mark() = 0;
  // Undoes all since the last mark(), failed or not, and the unit goes on from there. What messages have buffered,
  // staged or finished since is taken back too; what was parked stays. Throws where the transaction cannot go on.
  virtual void back_to_mark() = 0;
  // After a call has thrown: the message whose own statement or staged row was refused, where that is known.
  virtual std::optional<std::size_t> culprit() const = 0;

  // How many attempts each has used: starts and failures, less those given back, since a person last sent it again.
  virtual std::vector<int> attempts(std::span<const Key> messages) = 0;
  virtual void count(const Key& message, Attempt attempt, std::string_view code) = 0;

  // Picks up to `most` messages of the consumer that are due, or fewer where they are large (16 MiB of payloads and the one
  // that passes it), and keeps them from others for `lease` (on the store's clock).
  // Commit, then resume() them together. Nothing is counted: one that is not finished by the end of its lease was under
  // way when a worker ended, and is left to start_due().
  virtual std::vector<Kept> take_due(std::size_t most, std::chrono::milliseconds lease) = 0;
  // Picks one that is due, taken before or not, or that a person sent again; counts its start, and keeps it from others for
  // `lease`. Commit, then resume() it in a unit of its own: should the process die there, the attempt was counted.
  virtual std::optional<Kept> start_due(std::chrono::milliseconds lease) = 0;
  // Instead of claim(), for kept messages with a key: holds those that still wait, and that no other unit holds, until the
  // unit ends. They are first(), and finish() replaces what the store kept of them; the others are answered as repeats.
  virtual void resume(std::span<const Claimant> batch) = 0;
  // The streams become ours, each under a new epoch: commit, then claim what they bring. A unit that holds one of them is
  // waited for.
  virtual std::vector<TakenOver> take_over(std::span<const std::string> streams) = 0;
  // As StreamKeeper::begin().
  virtual Stream begin_stream(const Stream& stream, std::int64_t next) = 0;
  // The quarantine row has been taken care of: the message was claimed, or parked anew.
  virtual void resolve(std::int64_t quarantine) = 0;

  // Ends the unit. If a statement has failed, or a message was refused something and was not forgotten, it can only
  // end as failed. Throws the Fault of a statement that failed on the way; nothing is committed then.
  virtual Commit commit() = 0;
};

// One look at the store, through a transaction that only reads: it waits for no writer and no writer waits for it, and all
// its queries see one moment, that of the first. After one has thrown, the only way on is another look.
class Look {
 public:
  virtual ~Look() = default;

  // As Transaction::query. A statement that writes is refused with Fault(statement_failed).
  template <class... Args>
  Rows query(std::string_view sql, const Args&... args) {
    const std::array<Value, sizeof...(Args)> values{Value(args)...};
    return query_values(sql, values);
  }

 private:
  virtual Rows query_values(std::string_view sql, std::span<const Value> values) = 0;
};

struct SchemaStatus {
  int version = 0;                   // 0: not there
  int newest = 0;                    // what this program brings
  std::vector<std::string> pending;  // "001 ground"
};

// What the store did since it was opened, counted where it happened.
struct StoreCounters {
  std::uint64_t round_trips = 0;  // 0 on stores in process
  std::uint64_t statements = 0;
  std::uint64_t transactions = 0;
  std::uint64_t reconnects = 0;
};

// Whose SQL a store speaks, for statements of our own that are written for both.
enum class Dialect : std::uint8_t { postgres, sqlite };

class Store {
 public:
  virtual ~Store() = default;

  // Brings the tables up to this program's version. Two processes may do it at once; a crash inside is harmless.
  virtual SchemaStatus migrate() = 0;
  virtual SchemaStatus schema() = 0;

  // Makes a consumer known. Throws Fault(scheme_changed) if its identity policy (scheme, hash, operation, id source,
  // producer, tenant or offsets) differs from the one it was first enrolled with.
  virtual Enrolled enroll(const Declaration& declaration) = 0;

  // Opens a transaction; reconnects first where the last fault poisoned the connection. One unit or look at a time: it must
  // be gone before the next begins.
  virtual std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) = 0;
  // The same for those who only read.
  virtual std::unique_ptr<Look> look() = 0;

  // When the next message of the consumer that waits will be due, by the store's clock from now; nothing if none waits.
  virtual std::optional<std::chrono::milliseconds> next_due(const Enrolled& consumer) = 0;

  // Ends the statement that runs now with Fault(timed_out). The only call that another thread may make; harmless when
  // nothing runs.
  virtual void cancel() noexcept = 0;

  // Calls this after every unit that was committed, on the same thread: the way to wake a relay of the same process.
  void on_commit(std::function<void()> call) { on_commit_ = std::move(call); }

  // Calls this for intents of calls that were there before they were staged, on the same thread: those of a unit after its
  // commit, each endpoint by itself; a conflict when it is met.
  enum class Repeat : std::uint8_t { same, conflict };
  using RepeatedCalls = std::function<void(std::string_view endpoint, Repeat repeat, std::uint64_t times)>;
  void on_repeated_calls(RepeatedCalls call) { on_repeated_calls_ = std::move(call); }

  virtual StoreCounters counters() const = 0;
  virtual Dialect dialect() const = 0;
  // For messages to people: kind, host and database, without credentials.
  virtual std::string describe() const = 0;

 protected:
  std::function<void()> on_commit_;
  RepeatedCalls on_repeated_calls_;
};

struct RetryLimit {
  int attempts = 8;
  std::chrono::milliseconds first_delay{2};
  std::chrono::milliseconds longest_delay{250};
};

// Runs `work` in a unit and commits it, again while the store says that it lost a race or that the commit is in doubt:
// `work` must claim as its first act, so that a commit which landed is answered with duplicates. Work that claims
// nothing is not run again after a commit in doubt. Returns the last unit's answers. Throws the last Fault once `limit`
// is used up.
template <class Work>
std::vector<Answer> transact(Store& store, const Enrolled& consumer, const RetryLimit& limit, Work&& work);

}  // namespace onceward

#include "onceward/port/transact.h"
