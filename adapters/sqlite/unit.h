// A batch in one SQLite transaction: ours, or the caller's that we take part in. The same code for both.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/sqlite/connection.h"
#include "adapters/sqlite/tables.h"
#include "onceward/port/store.h"
#include "src/effect/statements.h"
#include "src/inbox/batch.h"
#include "src/outbox/staging.h"

namespace onceward::sqlite {

class Unit final : public UnitOfWork {
 public:
  // Ours: `connection` has begun the transaction and must outlive the unit's end.
  Unit(Connection& connection, const Enrolled& consumer);
  // The caller's: `borrowed` wraps the caller's handle, which is in a transaction.
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
    // Runs what is buffered, then `work` on the prepared statement with its values bound.
    template <class Work>
    auto at_once(std::string_view sql, std::span<const Value> values, Work&& work);

    Unit& unit_;
  };

  template <class Work>
  auto guarded(Work&& work);
  void sent(std::uint32_t message);
  void run_statements();
  void write_all();
  void write_records();
  bool unwritten() const;
  Commit ended(Commit how);

  const std::unique_ptr<Connection> wrapper_;  // around the caller's handle
  Connection& connection_;
  const Enrolled consumer_;
  const Stamp stamp_;
  const int exceptions_at_start_;
  Scope scope_{*this};

  bool failed_ = false;
  bool ended_ = false;
  bool records_written_ = false;
  std::optional<Batch> batch_;
  std::vector<Answer> answers_;
  Statements statements_;
  Staging staging_;
  std::vector<bool> sent_;  // messages some of whose statements have run
  std::unordered_map<Batch::Index, std::chrono::milliseconds> retry_after_;
  std::vector<Parked> parked_;
  std::string insert_once_sql_;  // the last one asked for
  std::string insert_once_text_;
};

}  // namespace onceward::sqlite
