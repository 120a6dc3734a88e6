// Rows that could not leave when their turn came: kept apart, so that the place of their slot moves on and their part of
// the outbox can be emptied. A row waits for its next attempt, stands behind one of its key that does, or was set aside for
// a person when its attempts were used up.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "onceward/declaration.h"
#include "onceward/port/store.h"
#include "src/relay/row.h"

namespace onceward::relay {

struct Setback {
  enum class Why : std::uint8_t {
    refused,  // by its broker, or no route has its type: one attempt is used
    behind,   // one of its key waits
    away,     // its broker does not answer, or a person has stopped it, while others work
  };
  std::int64_t tick = 0, position = 0;
  int slot = 0;
  int attempts = 0;  // used so far
  bool ordered = false;
  Why why = Why::refused;
  std::string reason{}, detail{};
};

class Waiting {
 public:
  Waiting(Store& store, std::string producer, const RetryBudget& budget)
      : store_(store), producer_(std::move(producer)), budget_(budget) {}

  bool used_up(const Setback& setback) const;

  // Parts of a unit. Of rows that are in the outbox: they wait from now on. Once, however often it is said.
  void put(UnitOfWork& unit, std::span<const Setback> setbacks) const;
  // Of rows that waited: they wait again, or are set aside.
  void put_again(UnitOfWork& unit, std::span<const Setback> setbacks) const;
  void remove(UnitOfWork& unit, std::span<const std::int64_t> positions) const;

  // Those of these slots that are due, in their order; of an ordered key none behind one that is not.
  std::vector<OutboxRow> due(std::span<const int> slots, int most) const;
  // Ordered keys of these slots of which a row waits, or was set aside.
  std::set<std::string, std::less<>> keys(std::span<const int> slots) const;

 private:
  struct Columns;
  std::string_view state_of(const Setback& setback) const;

  Store& store_;
  const std::string producer_;
  const RetryBudget budget_;
};

}  // namespace onceward::relay
