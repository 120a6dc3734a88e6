// What a person does to parked messages: sends them again, or gives them up.
//
// Done in steps of a bounded number of rows, each one transaction with an audit row of its own: who, why, which rows. So
// nobody waits long for a lock, and a process that is killed leaves whole steps: the same again takes the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/records/quarantine.h"

namespace onceward::records {

inline constexpr std::size_t most_numbers = 10'000;  // that are named one by one
inline constexpr std::size_t most_who_bytes = 255;
inline constexpr std::size_t most_why_bytes = 1'000;

enum class Action : std::uint8_t {
  retry,    // with its identity: by the next worker that looks, with all its attempts
  discard,  // stays as evidence; a message that was claimed stays quarantined in the inbox
};
std::string_view name(Action action);

struct Preview {
  std::int64_t matching = 0;         // in any state
  std::int64_t parked = 0;           // those that can be acted on
  std::int64_t highest = 0;          // the last number among those
  std::vector<QuarantineRow> first;  // ten of them
};
Preview preview(Store& store, const QuarantineFilter& filter);

struct Command {
  Action action = Action::retry;
  QuarantineFilter filter;   // of rows that are parked, whatever its state says
  std::int64_t highest = 0;  // leaves alone what was parked after the preview
  std::string who;
  std::string why;
  int rows_of_a_step = 500;  // 1 to 1000
};

// What is wrong with it; empty if nothing.
std::string wrong_with(const Command& command);

struct Progress {
  std::int64_t changed = 0;
  std::int64_t steps = 0;  // committed
};

// Called after each step; false ends it there.
using GoOn = std::function<bool(const Progress&)>;

// Returns what was changed, counted from what was committed. Throws Fault; steps that were committed before stay. Throws
// std::invalid_argument where wrong_with() has something to say.
Progress carry_out(Store& store, const Command& command, const GoOn& go_on = {});

}  // namespace onceward::records
