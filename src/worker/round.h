// A batch on its way to its commit: the messages, and what is known of them so far. It outlives the transactions in which
// the batch is tried: those that have failed once keep their failure when the rest is run again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "onceward/port/store.h"
#include "src/worker/arrivals.h"
#include "src/worker/failure.h"

namespace onceward {

// A message in hand: from the source, or kept by our store. Borrows.
struct Item {
  const Envelope* envelope = nullptr;
  const Identified* identified = nullptr;    // its identity, or why it has none, where that is known
  std::optional<std::uint64_t> tag{};        // towards the source; nothing for a kept message
  std::int32_t partition = -1;               // of the source
  const Position* position = nullptr;        // by which it is claimed, where the store keeps offsets
  std::optional<Key> kept{};                 // the inbox row of a kept message
  std::int64_t quarantine = 0;               // the row from which a person sent it again; 0: none
  int attempts = 0;                          // used before
  bool counted = false;                      // this attempt is among them: it was counted when it began
  bool unsure = false;                       // whether it was delivered before, since nobody counts
  std::shared_ptr<const Failure> failure{};  // known before it is run
};

// As the source's thread has found it, else found now. A message with a position always has an identity: what is wrong with
// one that was refused is its failure.
Identified identity_of(const Item& item, const Declaration& declaration);
// The failure of a message that has a row of its own, or is to get one, and that the declaration refuses.
std::shared_ptr<const Failure> failure_of(const Refusal& refusal);

// How long a kept message is kept from other workers: at twice the bound the process ends.
inline std::chrono::milliseconds lease_for(const Declaration& declaration) { return 3 * declaration.time_bound; }

// A message that has no identity to claim: it is parked.
struct Refused {
  Item item;
  Refusal refusal;
};

using Index = std::uint32_t;  // of a claimant in its round
using Part = std::span<const Index>;

class Round {
 public:
  // `in_order`: a message from a source that is to be tried again is put off, and given no outcome.
  Round(const RetryBudget& budget, bool in_order) : budget_(budget), in_order_(in_order) {}

  void clear();
  void add(const Item& item, Claimant claimant);
  void add(const Item& item, Refusal refusal) { refused_.push_back({item, std::move(refusal)}); }

  bool empty() const { return claimants_.empty() && refused_.empty(); }
  std::span<const Refused> refused() const { return refused_; }
  std::size_t size() const { return claimants_.size(); }
  std::span<const Claimant> claimants() const { return claimants_; }
  const Item& item(Index index) const { return items_[index]; }

  // A new transaction: outcomes are given anew, failures stay known.
  void begin_try() {
    decided_.clear();
    soonest_retry_.reset();
  }
  // The handler's decision, where it is no failure.
  void finish(UnitOfWork& unit, Index index, Outcome outcome);
  // The message has failed by itself: undoes what it did in this transaction and gives it the outcome that follows.
  // False if only a rollback undoes it; the failure is remembered for the next run.
  bool take_out(UnitOfWork& unit, Index index, Failure failure);
  // Gives those of `part` that have failed before their outcome, and returns the others.
  std::vector<Index> without_failed(UnitOfWork& unit, Part part);

  void remember(Index index, Failure failure) { failures_.insert_or_assign(index, std::move(failure)); }
  bool failed(Index index) const { return failures_.contains(index); }
  const Failure& failure(Index index) const { return failures_.at(index); }
  std::size_t failures() const { return failures_.size(); }
  // Those that were put off, with their delays: the transaction must be rolled back, since they are claimed in it.
  const std::map<Index, std::chrono::milliseconds>& put_off() const { return put_off_; }
  // Including the attempt that has just failed.
  int attempts(Index index) const { return items_[index].attempts + (items_[index].counted ? 0 : 1); }
  // The shortest delay after which one of them is to be run again.
  std::optional<std::chrono::milliseconds> soonest_retry() const { return soonest_retry_; }
  // The state that was given to the message; nothing for plain success.
  const State* decided(Index index) const;

 private:
  void finish_failed(UnitOfWork& unit, Index index);

  const RetryBudget budget_;
  const bool in_order_;
  std::vector<Item> items_;
  std::vector<Claimant> claimants_;
  std::vector<Refused> refused_;
  std::map<Index, Failure> failures_;
  std::map<Index, State> decided_;
  std::map<Index, std::chrono::milliseconds> put_off_;
  std::optional<std::chrono::milliseconds> soonest_retry_;
};

}  // namespace onceward
