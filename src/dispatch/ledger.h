// The ledger as a dispatcher reads and writes it: whole turns at a time, each inside one unit. Written once for both stores.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "onceward/port/store.h"
#include "src/dispatch/standing.h"

namespace onceward::dispatch {

class Ledger {
 public:
  // Of one endpoint, for whoever `owner` is.
  Ledger(Store& store, std::string endpoint, std::string owner)
      : store_(store), endpoint_(std::move(endpoint)), owner_(std::move(owner)) {}

  // Which of those that are due.
  enum class Due : std::uint8_t { all, expired };  // leases of others that have ended
  struct Found {
    std::vector<Standing> answered, due;
    std::vector<Content> contents;  // of those that are due
  };

  // A unit in which rows are found by their indexes.
  std::unique_ptr<UnitOfWork> begin() const;

  // Whether anything is; waits for nobody.
  bool any_due(Due which) const;

  // Whoever still holds these rows has ended on return: what is read next is what it left.
  void await(UnitOfWork& unit, std::span<const std::int64_t> numbers) const;

  // All that is read is kept from others until the unit ends. `answered` are rows by their numbers; of those that are due the
  // oldest `most`, without those that others hold and without our own.
  Found read(UnitOfWork& unit, std::span<const std::int64_t> answered, Due which, std::size_t most) const;
  // Those under our name.
  std::vector<Standing> read_ours(UnitOfWork& unit) const;

  // Each change is written only where the state is what it was before.
  void write(UnitOfWork& unit, std::span<const Change> changes, std::span<const Beginning> beginnings,
             std::span<const Ending> endings) const;
  // Leases of attempts of ours.
  void renew(UnitOfWork& unit, std::span<const std::int64_t> numbers, std::chrono::milliseconds lease) const;
  // What is unknown and waits for a person is looked at again: the declaration may have changed.
  void reconsider(UnitOfWork& unit) const;

 private:
  Store& store_;
  const std::string endpoint_, owner_;
};

}  // namespace onceward::dispatch
