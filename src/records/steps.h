// What a person does to many rows: in steps of a bounded number, each one transaction with an audit row of its own: who,
// why, which rows. So nobody waits long for a lock, and a process that is killed leaves whole steps: the same again takes
// the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/port/store.h"
#include "src/records/audit.h"

namespace onceward::records {

using Numbers = std::vector<std::int64_t>;

inline constexpr std::size_t most_numbers = 10'000;  // that are named one by one

enum class Action : std::uint8_t { retry, discard, cancel };
std::string_view name(Action action);

struct Progress {
  std::int64_t changed = 0;
  std::int64_t steps = 0;  // committed
};

// Called after each step; false ends it there.
using GoOn = std::function<bool(const Progress&)>;

struct Deed {
  std::string_view noun;    // as the audit names the rows: noun/number
  std::string_view from;    // their table
  std::string_view number;  // the column that has their numbers
  Action action = Action::retry;
  std::string filter;  // which were asked for, as JSON
  std::string_view who, why;
  // The next ones behind a number, rising, and locked; nothing when none is left.
  std::function<Numbers(Transaction&, std::int64_t after)> pick;
  std::function<void(Transaction&, const Numbers&)> change;
};

// By rising numbers: no row is met twice. Returns what was changed, counted from what was committed. Throws Fault; steps
// that were committed before stay.
Progress do_in_steps(Store& store, const Deed& deed, const GoOn& go_on);

// What is wrong with a command; empty if nothing.
std::string wrong_with(std::string_view who, std::string_view why, const Numbers& numbers, int rows_of_a_step);

// Calls it until it returns, a limited number of times, while its faults pass by themselves.
bool try_again(const std::function<bool()>& attempt);

}  // namespace onceward::records
