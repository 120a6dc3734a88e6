// Messages that run by themselves: those that were delivered before, one of which may have ended a worker, and those that
// our store kept. The start of each attempt is committed before it is made, so that a message which ends the process is
// counted, and its neighbours are not.
//
// Where the source does not count deliveries, most of those that may have been delivered before never were (a partition
// that was just assigned). They run together once, and all of them are charged with a start: should the worker end, they
// come back charged, and only then run alone.
#pragma once

#include <set>

#include "src/worker/applier.h"

namespace onceward {

class Alone {
 public:
  Alone(const Declaration& declaration, Store& store, Applier& applier, Outage& outage, ConsumerTally& tally)
      : declaration_(declaration), store_(store), applier_(applier), outage_(outage), tally_(tally) {}

  // As Applier::together.
  bool suspects(std::span<const Item> items, Settlements& settlements);
  // The one that is due and was under way when a worker ended, or that a person sent again; false if there is none, or a
  // stop came before.
  bool due();

 private:
  bool ask(std::span<const Item> items, std::vector<Item>& unknown, Settlements& settlements);
  bool take_answers(std::span<const Item> items, std::span<const Claimant> claimants, std::span<const Answer> answers,
                    std::vector<Item>& unknown, Settlements& settlements);
  bool start_never_begun(std::vector<Item>& unknown);
  bool by_itself(Item& item, std::set<Key>& done, Settlements& settlements);
  bool run(const Item& item, Settlements& settlements);
  std::optional<Key> key_of(const Item& item) const;
  bool count_start(Item& item);
  void give_back(std::span<const Item> items);
  bool landed(UnitOfWork& unit, const Kept& kept) const;

  const Declaration& declaration_;
  Store& store_;
  Applier& applier_;
  Outage& outage_;
  ConsumerTally& tally_;
};

}  // namespace onceward
