// A batch in one transaction: ours, or the caller's that we take part in. The same code for both, and for every store.
#pragma once

#include <chrono>
#include <cstdint>
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
  Unit(std::unique_ptr<Session> session, const Enrolled& consumer, Owner owner);
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
  void park(const Claimant& claimant, std::string_view reason, std::string_view detail) override;
  bool claimed() const override { return batch_.has_value(); }
  void flush() override;
  void mark() override;
  void back_to_mark() override;
  std::optional<std::size_t> culprit() const override;
  std::vector<int> attempts(std::span<const Key> messages) override;
  void count(const Key& message, Attempt attempt, std::string_view code) override;
  std::optional<Kept> start_due(std::chrono::milliseconds lease) override;
  bool resume(const Claimant& message) override;
  void resolve(std::int64_t quarantine) override;
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
    // What was buffered goes first, with this one last; then `ask` waits for its answer.
    template <class Ask>
    auto at_once(std::string_view sql, std::span<const Value> values, Ask&& ask);

    Unit& unit_;
  };

  void require_open() const;
  template <class Work>
  void buffered(std::uint32_t message, Work&& work);
  template <class Work>
  auto guarded(Work&& work);
  void mark_sent(std::uint32_t message);
  void run_statements();
  std::vector<OutcomeRow> outcomes();
  const char* unsettled() const;  // why the unit cannot be written; null if it can
  void write_all();
  bool unwritten() const;
  Batch* batch() { return batch_ ? &*batch_ : nullptr; }

  const std::unique_ptr<Session> session_;
  const Enrolled consumer_;
  const Owner owner_;
  const int exceptions_at_start_;
  Scope scope_{*this};

  bool failed_ = false;
  std::optional<Commit> ending_;
  bool outcomes_written_ = false;
  std::optional<Batch> batch_;
  std::vector<Answer> answers_;
  Statements statements_;
  Staging staging_;
  std::vector<bool> sent_;             // messages some of whose statements are on their way
  std::set<std::uint32_t> spoiled_;    // messages that asked for what cannot be done; nothing of it was sent
  std::set<std::uint32_t> forgotten_;  // messages taken out that have no outcome yet
  std::unordered_map<Batch::Index, std::chrono::milliseconds> retry_after_;
  std::vector<Parked> parked_;
};

}  // namespace onceward
