// What a person does to outgoing messages that could not leave: sends them again, or gives them up. In steps
// (src/records/steps.h), and only to what the preview has seen: a relay moves rows meanwhile, in no order of their numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/records/outbox.h"
#include "src/records/steps.h"

namespace onceward::records {

inline constexpr std::int64_t most_rows_of_a_command = 1'000'000;

struct OutboxPreview {
  std::int64_t matching = 0;     // in any state
  std::int64_t eligible = 0;     // those that wait or are quarantined, and can be acted on
  Numbers numbers;               // of those, the first million
  std::vector<OutboxRow> first;  // ten of them
};
// Of the filter's states those that can be acted on count; none: both.
OutboxPreview preview(Store& store, const OutboxFilter& filter);

struct OutboxCommand {
  // retry: due at once, with all its attempts.
  // discard: stays as evidence, and is never published; those behind it in its key go on.
  Action action = Action::retry;
  OutboxFilter filter;
  Numbers numbers;  // of the preview; those that have left, or were discarded since, are left alone
  std::string who;
  std::string why;
  int rows_of_a_step = 500;  // 1 to 1000
};

// What is wrong with it; empty if nothing.
std::string wrong_with(const OutboxCommand& command);

// As carry_out() of the quarantine.
Progress carry_out(Store& store, const OutboxCommand& command, const GoOn& go_on = {});

}  // namespace onceward::records
