// A store that loses the answers to some of its commits.
#pragma once

#include <functional>

#include "tests/fixtures/forwarding_store.h"

namespace onceward {

enum class Fate { answered, lands_unanswered, is_lost };

class DoubtingStore final : public fixtures::ForwardingStore {
 public:
  // Asked before each commit; `starts` says whether the unit has counted the start of an attempt.
  using Decide = std::function<Fate(bool starts)>;
  DoubtingStore(Store& store, Decide decide) : ForwardingStore(store), decide_(std::move(decide)) {}

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    return std::make_unique<Unit>(store_.begin(consumer), *this);
  }

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, DoubtingStore& store) : ForwardingUnit(std::move(unit)), store_(store) {}

    void count(const Key& message, Attempt attempt, std::string_view code) override {
      starts_ = starts_ || attempt == Attempt::start;
      unit_->count(message, attempt, code);
    }
    std::optional<Kept> start_due(std::chrono::milliseconds lease) override {
      auto kept = unit_->start_due(lease);
      starts_ = starts_ || kept;
      return kept;
    }
    Commit commit() override {
      const Fate fate = store_.decide_(starts_);
      return fate == Fate::answered ? unit_->commit() : end_in_doubt(fate == Fate::lands_unanswered);
    }

   private:
    DoubtingStore& store_;
    bool starts_ = false;
  };

  const Decide decide_;
};

}  // namespace onceward
