#include "src/worker/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "src/common/stored_text.h"

namespace onceward {
namespace {

constexpr std::size_t most_detail_bytes = 300;

// One line of text, of bounded length: an exception's text was written by a stranger.
std::string sanitised(std::string_view text) {
  std::string clean = storable(text.substr(0, most_detail_bytes));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return clean;
}

std::chrono::milliseconds jittered(std::chrono::milliseconds delay) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto half = delay.count() / 2;
  return std::chrono::milliseconds(half + std::uniform_int_distribution<std::int64_t>(0, delay.count() - half)(random));
}

}  // namespace

std::chrono::milliseconds delay_before(int attempt, const RetryBudget& budget) {
  auto delay = budget.first_delay;
  for (int i = 1; i < attempt && delay < budget.longest_delay; ++i) delay *= 2;
  return jittered(std::min(delay, budget.longest_delay));
}

std::optional<Failure> failure_in(const Outcome& outcome) {
  if (const auto* retry = std::get_if<Retry>(&outcome)) {
    return Failure{retry->code, sanitised(retry->detail), false, retry->after};
  }
  if (const auto* failed = std::get_if<Failed>(&outcome)) return Failure{failed->code, sanitised(failed->detail), true};
  if (const auto* unknown = std::get_if<Unknown>(&outcome)) {
    return Failure{unknown->code, sanitised(unknown->detail), true};
  }
  return std::nullopt;
}

Failure failure_of(const Fault& fault) {
  std::string detail = sanitised(fault.what());
  if (!fault.store_code().empty()) detail += fmt::format(" [{}]", fault.store_code());
  return {.code = std::string(code(fault.fault())), .detail = std::move(detail), .by = Failure::By::statement};
}

Failure failure_of(const std::exception& thrown) {
  return {.code = "unclassified", .detail = sanitised(thrown.what()), .by = Failure::By::exception};
}

Failure failure_of_something_thrown() {
  return {
      .code = "unclassified", .detail = "something that is no std::exception was thrown", .by = Failure::By::exception};
}

bool is_outage(const Fault& fault) {
  switch (fault.fault()) {
    case FaultCode::timed_out:
    case FaultCode::constraint_violated:
    case FaultCode::fact_exists:
    case FaultCode::call_conflict:
    case FaultCode::statement_failed:
    case FaultCode::transaction_failed:
      return fault.poisons() != Poisons::transaction;
    default:
      return true;
  }
}

Outcome after_failure(const Failure& failure, int attempts, const RetryBudget& budget) {
  if (failure.permanent || attempts >= budget.attempts) return Failed{failure.code, failure.detail};
  const auto asked = std::min(failure.after, budget.longest_delay);
  return Retry{failure.code, asked.count() > 0 ? asked : delay_before(attempts, budget), failure.detail};
}

}  // namespace onceward
