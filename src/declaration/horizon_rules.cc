#include <fmt/format.h>

#include <algorithm>

#include "src/declaration/duration.h"
#include "src/declaration/rules.h"

namespace onceward::declaration {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Input {
  std::string_view key;
  HorizonInputs::Span HorizonInputs::* member;
};
constexpr Input inputs[] = {
    {"broker_retention", &HorizonInputs::broker_retention},
    {"longest_retry", &HorizonInputs::longest_retry},
    {"parking_age", &HorizonInputs::parking_age},
    {"replay_reach", &HorizonInputs::replay_reach},
    {"oldest_backup", &HorizonInputs::oldest_backup},
    {"producer_retry", &HorizonInputs::producer_retry},
    {"operation_lifetime", &HorizonInputs::operation_lifetime},
    {"legal", &HorizonInputs::legal},
};
constexpr seconds shortest{1};
constexpr seconds longest_horizon{std::int64_t{100} * 365 * 86'400};

bool in_range(const HorizonInputs::Span& span) { return span && shortest <= *span && *span <= longest_horizon; }

// Values out of range are findings of their own, and would overflow the sum.
bool in_range(const RetryBudget& retry) {
  return retry.attempts <= 100 && retry.first_delay > milliseconds(0) &&
         retry.longest_delay <= std::chrono::hours(24 * 7);
}

// What the consumer's own budget can take, delays doubling.
milliseconds sum_of_delays(const RetryBudget& retry) {
  milliseconds sum{0};
  milliseconds delay = std::min(retry.first_delay, retry.longest_delay);
  for (int attempt = 1; attempt < retry.attempts; ++attempt) {
    sum += delay;
    delay = std::min(delay * 2, retry.longest_delay);
  }
  return sum;
}

}  // namespace

void check_horizon(const HorizonInputs& horizon, const RetryBudget& retry, const Path& path, Findings& findings) {
  for (const Input& input : inputs) {
    const HorizonInputs::Span& span = horizon.*input.member;
    if (!span || in_range(span)) continue;
    findings.add(path / input.key, "is outside 1s to 100y",
                 "how far back a duplicate can come from; leave the key out if you do not know");
  }
  if (in_range(retry) && in_range(horizon.longest_retry) && *horizon.longest_retry < sum_of_delays(retry))
    findings.add(path / "longest_retry",
                 fmt::format("{} is shorter than the consumer's own retries, which take {}",
                             write_duration(*horizon.longest_retry), write_duration(sum_of_delays(retry))),
                 "count in every retry between the producer and this consumer", {Path("retry")});
}

}  // namespace onceward::declaration
