#include "src/worker/tally.h"

#include <algorithm>
#include <array>

namespace onceward {

namespace {

ConsumerTally::Count& counter_of(ConsumerTally& tally, Failure::By by) {
  switch (by) {
    case Failure::By::exception:
      return tally.thrown;
    case Failure::By::statement:
      return tally.statement;
    case Failure::By::field:
      return tally.field;
    case Failure::By::crash:
      return tally.deadly;
    case Failure::By::handler:
      break;
  }
  return tally.returned;
}

}  // namespace

void count_answers(ConsumerTally& tally, const Round& round, std::span<const Answer> answers) {
  if (round.item(0).kept) return;  // all of them are: they were counted when they came
  std::array<std::uint64_t, std::tuple_size_v<decltype(tally.by_mode)>> by_mode{};
  for (const Claimant& claimant : round.claimants()) ++by_mode[static_cast<std::size_t>(claimant.envelope->mode())];
  for (std::size_t mode = 0; mode < by_mode.size(); ++mode) {
    if (by_mode[mode] != 0) bump(tally.by_mode[mode], by_mode[mode]);
  }
  std::array<std::uint64_t, 5> by_verdict{};
  std::uint64_t by_operation = 0;
  for (const Answer& answer : answers) {
    ++by_verdict[static_cast<std::size_t>(answer.verdict)];
    by_operation += answer.verdict == Verdict::duplicate && answer.by_operation;
  }
  bump(tally.first, by_verdict[static_cast<std::size_t>(Verdict::first)]);
  bump(tally.duplicate, by_verdict[static_cast<std::size_t>(Verdict::duplicate)] - by_operation);
  bump(tally.business_duplicate, by_operation);
  bump(tally.conflict, by_verdict[static_cast<std::size_t>(Verdict::conflict)]);
  bump(tally.fenced, by_verdict[static_cast<std::size_t>(Verdict::fenced)]);
  bump(tally.held, by_verdict[static_cast<std::size_t>(Verdict::held)]);
}

void count_outcomes(ConsumerTally& tally, const Round& round, Part firsts) {
  std::uint64_t other = 0;
  for (const Index index : firsts) {
    const State* const state = round.decided(index);
    if (state == nullptr) continue;
    ++other;
    if (*state == State::ignored) bump(tally.ignored);
    if (*state == State::rejected) bump(tally.rejected);
    if (*state == State::retryable_failed) bump(tally.retried);
    if (*state == State::quarantined) bump(tally.quarantined);
    if (*state == State::processed) --other;
    if (round.failed(index)) bump(counter_of(tally, round.failure(index).by));
  }
  bump(tally.processed, firsts.size() - other);
}

void count_put_off(ConsumerTally& tally, const Round& round, Index index) {
  bump(tally.retried);
  bump(counter_of(tally, round.failure(index).by));
}

void Laps::committed(ConsumerTally& tally) const {
  const auto count = [](Durations& durations, Clock::duration took) {
    const double seconds = std::chrono::duration<double>(took).count();
    const auto bound = std::ranges::lower_bound(Durations::bounds, seconds);
    bump(durations.counts[static_cast<std::size_t>(bound - Durations::bounds.begin())]);
    bump(durations.microseconds, static_cast<std::uint64_t>(seconds * 1e6));
  };
  count(tally.claim, claimed_ - began_);
  count(tally.effect, handled_ - claimed_);
  count(tally.batch, Clock::now() - began_);
}

}  // namespace onceward
