// A store that says when it is used, to somebody who may throw the Fault of a store that is away.
#pragma once

#include <functional>
#include <utility>

#include "tests/fixtures/forwarding_store.h"

namespace onceward::relay {

class WatchedStore final : public fixtures::ForwardingStore {
 public:
  using Before = std::function<void()>;
  WatchedStore(
      Store& store, Before before_unit, Before before_look = [] {})
      : ForwardingStore(store), before_unit_(std::move(before_unit)), before_look_(std::move(before_look)) {}

  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    before_unit_();
    return store_.begin(consumer);
  }
  std::unique_ptr<Look> look() override {
    before_look_();
    return store_.look();
  }

 private:
  const Before before_unit_, before_look_;
};

}  // namespace onceward::relay
