// A relay's store, that stops the process before a COMMIT that would move the relay's place, or renew its lease, or before a
// transaction begins: one that is stopped inside of it would hold up the others by its locks.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "tests/crash/forgetful_broker.h"
#include "tests/crash/point.h"
#include "tests/fixtures/forwarding_store.h"

namespace onceward::crash {

class NotingStore final : public fixtures::ForwardingStore {
 public:
  NotingStore(Store& store, Stop& stop, const UnderWay& under_way)
      : ForwardingStore(store), stop_(stop), under_way_(under_way) {}

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    if (under_way_.confirmed > 0 && under_way_.unconfirmed > 0) stop_.reach(Point::some_confirmed);
    return std::make_unique<Unit>(store_.begin(consumer), *this);
  }

 private:
  // What a unit has written is known by what it finds at its end and did not at its beginning.
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, const NotingStore& store) : ForwardingUnit(std::move(unit)), store_(store) {
      if (store_.stop_.wants(Point::noted)) moves_ = last_move();
      if (store_.stop_.wants(Point::renewing)) leases_ = last_lease();
    }
    Commit commit() override {
      if (store_.stop_.wants(Point::noted) && store_.under_way_.confirmed > 0 && last_move() != moves_) {
        reach(Point::noted);
      }
      if (store_.stop_.wants(Point::renewing) && store_.under_way_.unconfirmed > 0 && last_lease() != leases_) {
        reach(Point::renewing);
      }
      return unit_->commit();
    }

   private:
    void reach(Point point) {
      unit_->flush();
      store_.stop_.reach(point);
    }
    std::string last_move() { return last("number", "relay_move"); }
    std::string last_lease() { return last("seen_until", "relay_member"); }
    std::string last(const std::string& column, const std::string& table) {
      const std::string ours = store_.dialect() == Dialect::postgres ? "onceward." : "onceward_";
      const Rows rows =
          unit_->whole().query("SELECT coalesce(CAST(max(" + column + ") AS text), '') FROM " + ours + table);
      return std::get<std::string>(rows.at(0).at(0));
    }

    const NotingStore& store_;
    std::string moves_, leases_;
  };

  Stop& stop_;
  const UnderWay& under_way_;
};

}  // namespace onceward::crash
