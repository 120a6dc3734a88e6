// A batch in one transaction: ours, or the caller's that we take part in. The same code for both, and for every store.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "onceward/port/store.h"
#include "src/unit/session.h"

namespace onceward {

enum class Owner { us, caller };

class Unit final : public UnitOfWork {
 public:
  // `committed` is called after a commit that worked, `repeated` as Store::on_repeated_calls() says.
  Unit(std::unique_ptr<Session> session, const Enrolled& consumer, Owner owner, std::function<void()> committed = {},
       Store::RepeatedCalls repeated = {});
  ~Unit() override;

  void claim(std::span<const Claimant> batch) override;
  bool first(std::size_t index) const override;
  std::span<const Answer> answers() override;
  Transaction& on(std::size_t index) override;
  bool forget(std::size_t index) override;
  Transaction& whole() override;
  void finish(std::size_t index, Outcome outcome) override;
  void park(const Envelope& envelope, std::string_view reason, std::string_view detail) override;
  void park(const Claimant& claimant, std::string_view reason, std::string_view detail) override;
  bool claimed() const override { return batch_.has_value(); }
  void flush() override;
  void mark() override;
  void back_to_mark() override;
  std::optional<std::size_t> culprit() const override;
  std::vector<int> attempts(std::span<const Key> messages) override;
  void count(const Key& message, Attempt attempt, std::string_view code) override;
  std::optional<Kept> start_due(std::chrono::milliseconds lease) override;
  std::vector<Kept> take_due(std::size_t most, std::chrono::milliseconds lease) override;
  void resume(std::span<const Claimant> batch) override;
  void resolve(std::int64_t quarantine) override;
  std::vector<TakenOver> take_over(std::span<const std::string> streams) override;
  Stream begin_stream(const Stream& stream, std::int64_t next) override;
  Commit commit() override;

 private:
  // What a handler sees: the unit, on behalf of one message or of none.
  class Scope final : public Transaction {
   public:
    explicit Scope(Unit& unit) : unit_(unit) {}
    void execute_over(const Relation& relation, std::string_view sql) override;
    void stage(const Outgoing& outgoing) override;
    void stage(const Call& call) override;
    Cancelled cancel(std::string_view endpoint, std::string_view key) override;

    Cause cause;

   private:
    void execute_values(std::string_view sql, std::span<const Value> values) override;
    std::int64_t execute_counted_values(std::string_view sql, std::span<const Value> values) override;
    Rows query_values(std::string_view sql, std::span<const Value> values) override;
    Inserted insert_once_values(std::string_view insert_sql, std::span<const Value> values) override;
    // What was buffered goes first, with this one last; then `ask` waits for its answer.
    template <class Ask>
    auto at_once(std::string_view sql, std::span<const Value> values, Ask&& ask);

    Unit& unit_;
  };

  // What the store keeps of a finished message besides its recorded outcome.
  struct Ending {
    std::optional<std::chrono::milliseconds> retry_after;
    std::string detail;
  };
  // One finish() since the last mark: what it has replaced.
  struct Finish {
    Batch::Index index;
    Recorded recorded;
    Ending ending;
  };
  // How far the unit had come at its last mark.
  struct Mark {
    Staging::Place staging;
    std::size_t counted = 0, counted_written = 0;
    std::size_t resolved = 0, resolved_written = 0;
    std::size_t parked_written = 0;
    std::size_t repeats = 0;
    bool outcomes_written = false;
    std::vector<bool> sent;
    std::set<std::uint32_t> forgotten;
    std::set<std::uint32_t> undone;
  };

  void require_open() const;
  Streams streams_for(std::span<const Claimant> batch);
  template <class Work>
  void buffered(std::uint32_t message, Work&& work);
  template <class Work>
  auto guarded(Work&& work);
  std::optional<std::size_t> culprit_of(const Fault& fault) const;
  Ending ending_of(Batch::Index index) const;
  void set_outcome(Batch::Index index, Recorded recorded, Ending ending);
  void mark_sent(std::uint32_t message);
  void mark_staged_sent();
  void write_staged();
  void take_repeats();
  void tell_repeats() const;
  void tell_conflict(const Fault& fault) const;
  void run_statements();
  std::vector<OutcomeRow> outcomes();
  std::vector<Parked> failures(std::span<const OutcomeRow> outcomes) const;
  const char* unsettled() const;  // why the unit cannot be written; null if it can
  void write_all();
  bool unwritten() const;
  Batch* batch() { return batch_ ? &*batch_ : nullptr; }
  void forget_all_since_mark();
  bool by_position() const { return consumer_.offsets == Offsets::store; }

  const std::unique_ptr<Session> session_;
  const Enrolled consumer_;
  const Owner owner_;
  const int exceptions_at_start_;
  const std::function<void()> committed_;
  const Store::RepeatedCalls repeated_;
  Scope scope_{*this};

  bool failed_ = false;
  std::optional<std::size_t> culprit_;
  std::optional<Commit> ending_;
  bool outcomes_written_ = false;
  bool resumed_ = false;  // batch_ holds messages that the store kept
  std::optional<Batch> batch_;
  std::vector<Answer> answers_;
  std::vector<Advance> advances_;  // of streams, when all that is first is done
  bool believed_ = false;          // that they stand where they did after our last commit
  Statements statements_;
  Staging staging_;
  std::vector<bool> sent_;             // messages some of whose statements are on their way
  std::set<std::uint32_t> spoiled_;    // messages that asked for what cannot be done; nothing of it was sent
  std::set<std::uint32_t> forgotten_;  // messages taken out that have no outcome yet
  std::set<std::uint32_t> undone_;     // messages that have to run again, or to be finished: back_to_mark() undid them
  std::unordered_map<Batch::Index, Ending> endings_;
  // Written up to a place, and kept: going back to a mark may take the writing back.
  std::vector<Parked> parked_;
  std::vector<AttemptRow> counted_;
  std::vector<std::int64_t> resolved_;
  std::size_t parked_written_ = 0;
  std::size_t counted_written_ = 0;
  std::size_t resolved_written_ = 0;
  std::vector<Repeats> repeats_;

  int marks_ = 0;
  std::optional<Mark> mark_;              // the last one
  std::vector<Finish> finished_since_;    // it
  std::vector<std::uint32_t> ran_since_;  // it
};

// A transaction in which a statement has failed can never commit: PostgreSQL would answer COMMIT with ROLLBACK and no
// error, SQLite would commit the rest. Only going back to a mark mends it.
template <class Work>
auto Unit::guarded(Work&& work) {
  require_open();
  try {
    return work();
  } catch (const Fault& fault) {
    failed_ = true;
    culprit_ = culprit_of(fault);
    tell_conflict(fault);
    throw;
  } catch (...) {
    failed_ = true;
    culprit_.reset();
    throw;
  }
}

}  // namespace onceward
