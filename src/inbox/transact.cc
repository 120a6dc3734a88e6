#include <algorithm>
#include <random>
#include <thread>

#include "onceward/port/store.h"
#include "src/inbox/pause.h"

namespace onceward {

std::chrono::microseconds longest_pause(const RetryLimit& limit, int attempt) {
  const std::chrono::microseconds bound = std::max(limit.longest_delay, std::chrono::milliseconds{0});
  std::chrono::microseconds pause = std::max(limit.first_delay, std::chrono::milliseconds{0});
  // Halving the bound instead of doubling the pause cannot overflow.
  for (int step = 1; step < attempt && pause.count() > 0 && pause < bound; ++step) {
    pause = pause > bound / 2 ? bound : pause * 2;
  }
  return std::min(pause, bound);
}

// Full jitter: racers that lost to one another do not come back together.
void pause_before(const RetryLimit& limit, int attempt) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::uniform_int_distribution<std::int64_t> up_to_longest{0, longest_pause(limit, attempt).count()};
  std::this_thread::sleep_for(std::chrono::microseconds{up_to_longest(random)});
}

Fault not_committed(Commit ending) {
  if (ending == Commit::in_doubt) {
    return {FaultCode::store_unavailable, Poisons::connection,
            "the commit was asked for and not answered: it may have landed; claim again to know"};
  }
  return {FaultCode::transaction_failed, Poisons::transaction,
          "the unit failed and was rolled back: something in it was refused and the refusal was swallowed"};
}

}  // namespace onceward
