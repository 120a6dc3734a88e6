// Which relay tends which slots. A lease runs on the store's clock; the owner is a word that no other run of any relay
// has, so a place can only be moved by whoever holds the slot: that is the fence.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "onceward/port/store.h"
#include "src/relay/place.h"

namespace onceward::relay {

class Leases {
 public:
  using Clock = std::chrono::steady_clock;

  // `name` is for people, `lease` the time after which others may take the slots of a relay that has fallen silent.
  Leases(Store& store, std::string name, std::chrono::milliseconds lease);

  // The slots that are ours, and how far each has come.
  const std::map<int, Place>& places() const { return places_; }
  // Whether we may still send what is of our slots; false when the store has not been heard for the length of a lease,
  // that in which the machine slept included. From any thread.
  bool held() const;
  // When to renew().
  Clock::time_point due() const { return renewed_at_ + lease_ / 3; }

  // Says that we live, and keeps our slots; finds out whether another one has come or gone. Slots whose lease was lost to
  // another are no longer ours, nor, until the next take_share(), are those whose places the store has lost.
  void renew();
  // There are slots to take, or to give up so that each relay has its share, or the store says that some are ours of which we do
  // not know: call take_share() once nothing is under way.
  bool unbalanced() const { return unbalanced_; }
  void take_share();
  // Gives all of them up, for another to take at once.
  void give_up();

  // Part of a unit: everything of these slots from their places up to `place` has left, as it was read from `tick`. False
  // if some of them are no longer ours, or if the store does not know of the tick, or of the places that it said they had
  // (a failover lost them): the unit is to be given up then. May be said again where the commit was in doubt.
  bool move(UnitOfWork& unit, std::span<const int> slots, const Place& place, const TickName& tick) const;
  // Part of a unit: whether all of these slots are ours, and stay so until it ends.
  bool hold(UnitOfWork& unit, std::span<const int> slots) const;
  // The unit was committed.
  void moved(std::span<const int> slots, const Place& place);

 private:
  struct Slot {
    bool ours = false, free = false;
    Place place;
  };
  struct Held {
    std::map<int, Place> places;
    bool unbalanced = false;
  };
  std::map<int, Slot> read_slots(UnitOfWork& unit);
  std::size_t share(UnitOfWork& unit);
  void say_we_live(UnitOfWork& unit);
  void give(UnitOfWork& unit, const std::vector<int>& slots, std::string_view owner);
  template <class Work>
  void in_unit(Work&& work);
  bool know(std::span<const int> slots) const;

  Store& store_;
  const std::string name_;
  const std::string owner_;
  const std::chrono::milliseconds lease_;
  std::map<int, Place> places_;
  bool unbalanced_ = true;
  Clock::time_point renewed_at_{};
  std::atomic<std::int64_t> held_until_ = 0;  // see time_awake_or_not
};

}  // namespace onceward::relay
