// From messages to settlements: identify, claim, effect, commit. The heart of the worker, on the thread that owns the
// store. Whatever fails, it goes on until every message is committed or durably parked; only then may it be settled.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "onceward/worker.h"
#include "src/worker/effects.h"
#include "src/worker/outage.h"
#include "src/worker/pace.h"
#include "src/worker/round.h"
#include "src/worker/settlements.h"

namespace onceward {

class Applier {
 public:
  // Given what a transaction allows to be settled; takes it or leaves it to the end.
  using Committed = std::function<void(Settlements&)>;

  Applier(const Declaration& declaration, Handling& handling, Store& store, Outage& outage, ConsumerTally& tally,
          Log& log, Committed committed);

  // Each of these ends when all is committed, and appends what can be settled; false if a stop ended it before. No try
  // begins after the deadline of the stop.
  // The messages in one transaction, as often as it takes; in several where their handlers are slow.
  bool together(std::span<const Item> items, Settlements& settlements);
  // Each in a transaction of its own.
  bool each(std::span<const Item> items, Settlements& settlements);
  // One of the two, as the consumer declares.
  bool as_declared(std::span<const Item> items, Settlements& settlements);
  // Messages that wait in our store and are due, up to `most` of them; false if there were none.
  bool due(std::size_t most);
  // Parks messages whose identity was seen before with other content.
  bool park(std::span<const Claimant* const> conflicts);
  // `work` in a transaction.
  template <class Work>
  bool surely(Work&& work);
  // One line for all of them.
  void tell_fenced(std::span<const Answer> answers);

  // Of a consumer with order: messages that are to be tried again, and are neither finished nor settled. Whatever comes
  // after them in their partition is passed over until the next begin().
  struct PutOff {
    std::uint64_t tag = 0;
    std::int32_t partition = -1;
    std::chrono::milliseconds after{0};
    int attempts = 0;  // used so far
  };
  std::span<const PutOff> put_off() const { return put_off_; }
  bool passed_over(const Item& item) const;
  void begin() { put_off_.clear(); }

  const Enrolled& consumer() const { return consumer_; }
  // How many messages are worth receiving ahead.
  std::size_t most() const { return pace_.most(); }
  // When the next of the messages that were put off will be due, as far as this worker knows. Asked once.
  std::optional<std::chrono::steady_clock::time_point> next_retry() { return std::exchange(next_retry_, std::nullopt); }

 private:
  enum class Tried { committed, again, stopped };

  bool in_one(std::span<const Item> items, Settlements& settlements);
  bool without_put_off(std::span<const Item> items, Settlements& settlements);
  std::vector<Item> in_turn(std::span<const Item> items) const;
  void admit(std::span<const Item> items);
  void add_refused_since(Item item, const Refusal& refusal);
  Tried try_round(Settlements& settlements);
  Tried wait(const Fault& fault) { return outage_.wait(fault) ? Tried::again : Tried::stopped; }
  void enter(UnitOfWork& unit);
  Ran run_effects(UnitOfWork& unit);
  void conclude(UnitOfWork& unit, Settlements& settlements);
  Settle settled(Index index, const Answer& answer) const;

  const Declaration& declaration_;
  Store& store_;
  Outage& outage_;
  ConsumerTally& tally_;
  Log& log_;
  const Enrolled consumer_;
  const Committed committed_;
  Effects effects_;
  Pace pace_;

  std::vector<PutOff> put_off_;

  // Of the round in hand.
  Round round_;
  std::vector<Index> firsts_;
  std::vector<Index> conflicts_;

  std::optional<std::chrono::steady_clock::time_point> next_retry_;
};

template <class Work>
bool Applier::surely(Work&& work) {
  while (!outage_.given_up()) {
    try {
      const auto unit = store_.begin(consumer_);
      work(*unit);
      const Commit ending = unit->commit();
      if (ending == Commit::committed) {
        outage_.over();
        return true;
      }
      throw not_committed(ending);
    } catch (const Fault& fault) {
      if (fault.poisons() == Poisons::process) throw;
      if (!outage_.wait(fault)) return false;
    }
  }
  return false;
}

}  // namespace onceward
