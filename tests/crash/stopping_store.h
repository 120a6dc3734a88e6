// A store that stops the process at the points between its calls.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "tests/crash/point.h"
#include "tests/fixtures/forwarding_store.h"

namespace onceward::crash {

class StoppingStore final : public fixtures::ForwardingStore {
 public:
  StoppingStore(Store& store, Stop& stop) : ForwardingStore(store), stop_(stop) {}

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

  // Until it is let go, no unit is open: whoever is stopped then holds nothing that others wait for.
  std::unique_lock<std::mutex> between_units() const { return std::unique_lock(units_); }

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    auto open = between_units();
    return std::make_unique<Unit>(store_.begin(consumer), *this, std::move(open));
  }

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, StoppingStore& store, std::unique_lock<std::mutex> open)
        : ForwardingUnit(std::move(unit)), open_(std::move(open)), store_(store) {
      store_.unit_ = unit_.get();
    }
    ~Unit() override {
      store_.unit_ = nullptr;
      unit_.reset();  // before others may begin
    }
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    void claim(std::span<const Claimant> batch) override {
      store_.stop_.reach(Point::begun);
      unit_->claim(batch);
      for (std::size_t i = 0; i < batch.size(); ++i) new_ = new_ || unit_->first(i);
      if (new_) store_.stop_.reach(Point::claimed);
    }
    std::span<const Answer> answers() override {
      const auto answers = unit_->answers();
      const auto is_duplicate = [](const Answer& answer) { return answer.verdict == Verdict::duplicate; };
      if (std::ranges::any_of(answers, is_duplicate)) store_.duplicate_seen_ = true;
      return answers;
    }
    void finish(std::size_t index, Outcome outcome) override {
      parks_ = parks_ || state_of(outcome) == State::quarantined;
      unit_->finish(index, std::move(outcome));
    }
    void park(const Envelope& envelope, std::string_view reason, std::string_view detail) override {
      parks_ = true;
      unit_->park(envelope, reason, detail);
    }
    void park(const Claimant& claimant, std::string_view reason, std::string_view detail) override {
      parks_ = true;
      unit_->park(claimant, reason, detail);
    }
    void count(const Key& message, Attempt attempt, std::string_view code) override {
      counts_ = counts_ || attempt == Attempt::failure;
      unit_->count(message, attempt, code);
    }
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
    const std::unique_lock<std::mutex> open_;
    StoppingStore& store_;
    bool new_ = false, counts_ = false, parks_ = false;
  };

  Stop& stop_;
  mutable std::mutex units_;
  UnitOfWork* unit_ = nullptr;  // of the store's thread
  std::atomic<bool> duplicate_seen_ = false, committing_ = false;
};

}  // namespace onceward::crash
