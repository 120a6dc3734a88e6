// What a person does to calls: lets them go out again or gives them up, in steps (src/records/steps.h) and only to what the
// preview has seen. Each call has a row of its own among its attempts that says who and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/records/ledger.h"
#include "src/records/steps.h"

namespace onceward::records {

inline constexpr std::int64_t most_calls_of_a_command = 1'000'000;

// retry: what has failed, and with `sure` what is unknown, is made anew with all its attempts, under its old key. What was
// approved before waits for a new approval.
// cancel: what is planned, waits or was approved is never made.
struct LedgerCommand {
  Action action = Action::retry;
  LedgerFilter filter{};
  bool sure = false;  // an unknown call may have been done: whoever sends it again says so
  Numbers numbers{};  // of the preview; those that have moved on since are left alone
  std::string who;
  std::string why;
  int rows_of_a_step = 500;  // 1 to 1000
};

// The states from which the command leads.
std::vector<CallState> states_for(const LedgerCommand& command);

struct LedgerPreview {
  std::int64_t matching = 0;     // in any state
  std::int64_t eligible = 0;     // in one of the command's
  std::int64_t unknown = 0;      // of the matching ones, where the command is a retry without `sure`
  Numbers numbers;               // of those that are eligible, the first million
  std::vector<LedgerRow> first;  // ten of them
};
LedgerPreview preview(Store& store, const LedgerCommand& command);

// What is wrong with it; empty if nothing.
std::string wrong_with(const LedgerCommand& command);

// As carry_out() of the quarantine.
Progress carry_out(Store& store, const LedgerCommand& command, const GoOn& go_on = {});

}  // namespace onceward::records
