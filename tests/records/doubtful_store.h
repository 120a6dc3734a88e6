// A store whose first commit is not answered: it landed, or it did not.
#pragma once

#include <memory>

#include "onceward/port/store.h"

namespace onceward::records {

class DoubtfulStore final : public Store {
 public:
  DoubtfulStore(Store& store, bool lands) : store_(store), lands_(lands) {}

  SchemaStatus migrate() override { return store_.migrate(); }
  SchemaStatus schema() override { return store_.schema(); }
  Enrolled enroll(const Declaration& declaration) override { return store_.enroll(declaration); }
  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    return std::make_unique<Unit>(store_.begin(consumer), *this);
  }
  std::unique_ptr<Look> look() override { return store_.look(); }
  std::optional<std::chrono::milliseconds> next_due(const Enrolled& consumer) override {
    return store_.next_due(consumer);
  }
  void cancel() noexcept override { store_.cancel(); }
  StoreCounters counters() const override { return store_.counters(); }
  Dialect dialect() const override { return store_.dialect(); }
  std::string describe() const override { return store_.describe(); }

  int doubts = 0;

 private:
  class Unit final : public UnitOfWork {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, DoubtfulStore& store) : unit_(std::move(unit)), store_(store) {}

    void claim(std::span<const Claimant> batch) override { unit_->claim(batch); }
    bool claimed() const override { return unit_->claimed(); }
    bool first(std::size_t index) const override { return unit_->first(index); }
    std::span<const Answer> answers() override { return unit_->answers(); }
    Transaction& on(std::size_t index) override { return unit_->on(index); }
    bool forget(std::size_t index) override { return unit_->forget(index); }
    Transaction& whole() override { return unit_->whole(); }
    void finish(std::size_t index, Outcome outcome) override { unit_->finish(index, std::move(outcome)); }
    void park(const Envelope& envelope, const Enrolled& consumer, std::string_view reason,
              std::string_view detail) override {
      unit_->park(envelope, consumer, reason, detail);
    }
    void park(const Claimant& claimant, std::string_view reason, std::string_view detail) override {
      unit_->park(claimant, reason, detail);
    }
    void flush() override { unit_->flush(); }
    void mark() override { unit_->mark(); }
    void back_to_mark() override { unit_->back_to_mark(); }
    std::optional<std::size_t> culprit() const override { return unit_->culprit(); }
    std::vector<int> attempts(std::span<const Key> messages) override { return unit_->attempts(messages); }
    void count(const Key& message, Attempt attempt, std::string_view code) override {
      unit_->count(message, attempt, code);
    }
    std::optional<Kept> start_due(std::chrono::milliseconds lease) override { return unit_->start_due(lease); }
    std::vector<Kept> take_due(std::size_t most, std::chrono::milliseconds lease) override {
      return unit_->take_due(most, lease);
    }
    void resume(std::span<const Claimant> batch) override { unit_->resume(batch); }
    void resolve(std::int64_t quarantine) override { unit_->resolve(quarantine); }
    Commit commit() override {
      if (store_.doubts > 0) return unit_->commit();
      ++store_.doubts;
      if (store_.lands_) unit_->commit();
      unit_.reset();
      return Commit::in_doubt;
    }

   private:
    std::unique_ptr<UnitOfWork> unit_;
    DoubtfulStore& store_;
  };

  Store& store_;
  const bool lands_;
};

}  // namespace onceward::records
