// A batch in one PostgreSQL transaction: ours, or the caller's that we take part in. Two round trips for a batch without
// operation keys: BEGIN and claim; then the look-up of repeats, effects, staging and COMMIT together.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "adapters/postgres/connection.h"
#include "adapters/postgres/tables.h"
#include "adapters/postgres/values.h"
#include "onceward/port/store.h"
#include "src/effect/statements.h"
#include "src/inbox/batch.h"
#include "src/outbox/staging.h"

namespace onceward::postgres {

class Unit final : public UnitOfWork {
 public:
  // Ours: begins with the first statement. `connection` must outlive the unit.
  Unit(Connection& connection, const Enrolled& consumer);
  // The caller's: `connection` wraps the caller's own, which is in a transaction.
  Unit(std::unique_ptr<Connection> borrowed, const Enrolled& consumer);
  ~Unit() override;

  void claim(std::span<const Claimant> batch) override;
  bool first(std::size_t index) const override;
  std::span<const Answer> answers() override;
  Transaction& on(std::size_t index) override;
  bool forget(std::size_t index) override;
  Transaction& whole() override;
  void finish(std::size_t index, Outcome outcome) override;
  void park(const Envelope& envelope, const Enrolled& consumer, std::string_view reason,
            std::string_view detail) override;
  void flush() override;
  Commit commit() override;

 private:
  // What a handler sees: the unit, on behalf of one message or of none.
  class Scope final : public Transaction {
   public:
    explicit Scope(Unit& unit) : unit_(unit) {}
    void execute_over(const Relation& relation, std::string_view sql) override;
    void stage(const Outgoing& outgoing) override;
    void stage(const Call& call) override;

    Cause cause;

   private:
    void execute_values(std::string_view sql, std::span<const Value> values) override;
    std::int64_t execute_counted_values(std::string_view sql, std::span<const Value> values) override;
    Rows query_values(std::string_view sql, std::span<const Value> values) override;
    Inserted insert_once_values(std::string_view insert_sql, std::span<const Value> values) override;
    Result wait_for(std::string_view sql, std::span<const Value> values);

    Unit& unit_;
  };

  template <class Work>
  auto guarded(Work&& work);
  void begin();
  void queue_statements();
  void queue_outcomes_of_batch();
  void queue_writes();
  void queue_look_up_of_repeats();
  void read_look_up(const std::vector<Result>& results);
  void claim_operations();
  bool unwritten() const;
  void roll_back();

  std::unique_ptr<Connection> own_wrapper_;  // around the caller's connection
  Connection& connection_;
  const Enrolled consumer_;
  Scope scope_{*this};

  bool begun_ = false;
  bool failed_ = false;
  bool ended_ = false;
  std::optional<Batch> batch_;
  bool looked_up_ = false;
  bool outcomes_written_ = false;
  std::size_t look_up_at_ = 0;  // its place among the results of the trip it is queued in
  std::vector<Answer> answers_;
  Statements statements_;
  ValueParameters parameters_;
  Staging staging_;
  std::unordered_set<std::uint32_t> sent_;  // messages some of whose statements are on their way
  std::unordered_map<Batch::Index, std::chrono::milliseconds> retry_after_;
  std::vector<Parked> parked_;
};

}  // namespace onceward::postgres
