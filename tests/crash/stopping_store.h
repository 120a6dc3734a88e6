// A store that stops the process at the points between its calls.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "onceward/port/store.h"
#include "tests/crash/point.h"

namespace onceward::crash {

class StoppingStore final : public Store {
 public:
  StoppingStore(Store& store, Stop& stop) : store_(store), stop_(stop) {}

  // For the handler: what it did so far stands in the database before the process stops.
  void reach(Point point) {
    if (!stop_.wants(point)) return;
    if (unit_ != nullptr) unit_->flush();
    stop_.reach(point);
  }
  // Whether a duplicate was seen that may not have been acknowledged.
  bool duplicate_seen() const { return duplicate_seen_; }
  // Whether a COMMIT is under way.
  bool committing() const { return committing_; }

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

 private:
  class Unit final : public UnitOfWork {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, StoppingStore& store) : unit_(std::move(unit)), store_(store) {
      store_.unit_ = unit_.get();
    }
    ~Unit() override { store_.unit_ = nullptr; }
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    void claim(std::span<const Claimant> batch) override {
      store_.stop_.reach(Point::begun);
      unit_->claim(batch);
      for (std::size_t i = 0; i < batch.size(); ++i) new_ = new_ || unit_->first(i);
      if (new_) store_.stop_.reach(Point::claimed);
    }
    bool claimed() const override { return unit_->claimed(); }
    bool first(std::size_t index) const override { return unit_->first(index); }
    std::span<const Answer> answers() override {
      const auto answers = unit_->answers();
      const auto is_duplicate = [](const Answer& answer) { return answer.verdict == Verdict::duplicate; };
      if (std::ranges::any_of(answers, is_duplicate)) store_.duplicate_seen_ = true;
      return answers;
    }
    Transaction& on(std::size_t index) override { return unit_->on(index); }
    bool forget(std::size_t index) override { return unit_->forget(index); }
    Transaction& whole() override { return unit_->whole(); }
    void finish(std::size_t index, Outcome outcome) override {
      parks_ = parks_ || state_of(outcome) == State::quarantined;
      unit_->finish(index, std::move(outcome));
    }
    void park(const Envelope& envelope, const Enrolled& consumer, std::string_view reason,
              std::string_view detail) override {
      parks_ = true;
      unit_->park(envelope, consumer, reason, detail);
    }
    void park(const Claimant& claimant, std::string_view reason, std::string_view detail) override {
      parks_ = true;
      unit_->park(claimant, reason, detail);
    }
    void flush() override { unit_->flush(); }
    void mark() override { unit_->mark(); }
    void back_to_mark() override { unit_->back_to_mark(); }
    std::optional<std::size_t> culprit() const override { return unit_->culprit(); }
    std::vector<int> attempts(std::span<const Key> messages) override { return unit_->attempts(messages); }
    void count(const Key& message, Attempt attempt, std::string_view code) override {
      counts_ = counts_ || attempt == Attempt::failure;
      unit_->count(message, attempt, code);
    }
    std::vector<Kept> take_due(std::size_t most, std::chrono::milliseconds lease) override {
      return unit_->take_due(most, lease);
    }
    std::optional<Kept> start_due(std::chrono::milliseconds lease) override { return unit_->start_due(lease); }
    void resume(std::span<const Claimant> batch) override { unit_->resume(batch); }
    void resolve(std::int64_t quarantine) override { unit_->resolve(quarantine); }
    Commit commit() override {
      if (new_) store_.reach(Point::before_commit);
      store_.committing_ = new_;
      const Commit ending = unit_->commit();
      store_.committing_ = false;
      if (ending != Commit::committed) return ending;
      if (new_) store_.stop_.reach(Point::committed);
      if (counts_) store_.stop_.reach(Point::attempt_counted);
      if (parks_) store_.stop_.reach(Point::parked);
      return ending;
    }

   private:
    std::unique_ptr<UnitOfWork> unit_;
    StoppingStore& store_;
    bool new_ = false, counts_ = false, parks_ = false;
  };

  Store& store_;
  Stop& stop_;
  UnitOfWork* unit_ = nullptr;  // of the store's thread
  std::atomic<bool> duplicate_seen_ = false, committing_ = false;
};

}  // namespace onceward::crash
