// A store whose first commit is not answered: it landed, or it did not.
#pragma once

#include "tests/fixtures/forwarding_store.h"

namespace onceward::records {

class DoubtfulStore final : public fixtures::ForwardingStore {
 public:
  DoubtfulStore(Store& store, bool lands) : ForwardingStore(store), lands_(lands) {}

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    return std::make_unique<Unit>(store_.begin(consumer), *this);
  }

  int doubts = 0;

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, DoubtfulStore& store) : ForwardingUnit(std::move(unit)), store_(store) {}

    Commit commit() override {
      if (store_.doubts > 0) return unit_->commit();
      ++store_.doubts;
      return end_in_doubt(store_.lands_);
    }

   private:
    DoubtfulStore& store_;
  };

  const bool lands_;
};

}  // namespace onceward::records
