// What a person does to parked messages: sends them again, or gives them up. In steps (src/records/steps.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/records/quarantine.h"
#include "src/records/steps.h"

namespace onceward::records {

struct Preview {
  std::int64_t matching = 0;         // in any state
  std::int64_t eligible = 0;         // those that are parked, and can be acted on
  std::int64_t highest = 0;          // the last number among those
  std::vector<QuarantineRow> first;  // ten of them
};
Preview preview(Store& store, const QuarantineFilter& filter);

struct Command {
  // retry: with its identity, by the next worker that looks, with all its attempts.
  // discard: stays as evidence; a message that was claimed stays quarantined in the inbox.
  Action action = Action::retry;
  QuarantineFilter filter;   // of rows that are parked, whatever its state says
  std::int64_t highest = 0;  // leaves alone what was parked after the preview
  std::string who;
  std::string why;
  int rows_of_a_step = 500;  // 1 to 1000
};

// What is wrong with it; empty if nothing.
std::string wrong_with(const Command& command);

// Returns what was changed, counted from what was committed. Throws Fault; steps that were committed before stay. Throws
// std::invalid_argument where wrong_with() has something to say.
Progress carry_out(Store& store, const Command& command, const GoOn& go_on = {});

}  // namespace onceward::records
