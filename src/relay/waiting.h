// Rows that could not leave when their turn came: kept apart, so that the place of their slot moves on and their part of
// the outbox can be emptied. A row waits for its next attempt, stands behind one of its key that does, or was set aside for
// a person when its attempts were used up.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/declaration.h"
#include "onceward/port/store.h"
#include "src/records/statement.h"
#include "src/relay/row.h"

namespace onceward::relay {

struct Setback {
  enum class Why : std::uint8_t {
    refused,   // by its broker: one attempt is used
    no_route,  // none has its type: one attempt is used
    behind,    // one of its key waits
    away,      // its broker does not answer, or a person has stopped it, while others work
    put_off,   // by its broker, which takes others meanwhile
  };
  std::int64_t tick = 0, position = 0;
  int slot = 0;
  int attempts = 0;  // used so far
  std::chrono::microseconds waited{0};
  bool ordered = false;
  std::string_view target{};  // where it goes; of the relay's options, which outlive it
  Why why = Why::refused;
  std::string detail{};
};

class Waiting {
 public:
  // What goes to a broker that is away is due again after `while_away`.
  Waiting(Store& store, std::string producer, const RetryBudget& budget, std::chrono::milliseconds while_away)
      : store_(store), producer_(std::move(producer)), budget_(budget), while_away_(while_away) {}

  bool used_up(const Setback& setback) const;

  // Parts of a unit. Of rows that are in the outbox: they wait from now on. Once, however often it is said.
  void put(UnitOfWork& unit, std::span<const Setback> setbacks) const;
  // Of rows that waited: they wait again, or are set aside.
  void put_again(UnitOfWork& unit, std::span<const Setback> setbacks) const;
  void remove(UnitOfWork& unit, std::span<const std::int64_t> positions) const;

  // Those of these slots and this target that are due, in their order; of an ordered key none behind one that is not, or
  // that goes first though it stands later. A key has an order for each target.
  std::vector<OutboxRow> due(std::span<const int> slots, std::string_view target, int most) const;
  // To which rows of these slots go that wait.
  std::set<std::string, std::less<>> targets(std::span<const int> slots) const;
  // Ordered keys of which a row waits, or was set aside: of these slots, or those among `keys`.
  std::set<std::string, std::less<>> keys(std::span<const int> slots) const;
  std::set<std::string, std::less<>> keys_among(std::span<const std::string> keys) const;

 private:
  struct Columns;
  std::chrono::milliseconds delay_of(const Setback& setback) const;
  std::string_view state_of(const Setback& setback) const;
  std::set<std::string, std::less<>> read_texts(const records::Statement& select) const;

  Store& store_;
  const std::string producer_;
  const RetryBudget budget_;
  const std::chrono::milliseconds while_away_;
};

}  // namespace onceward::relay
