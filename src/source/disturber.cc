#include "src/source/disturber.h"

#include <fmt/format.h>

#include "onceward/fault.h"

namespace onceward {

Disturber::Disturber(const Disturbance& disturbance) : disturbance_(disturbance), state_(disturbance.seed) {
  // Written so that what is not a number is refused too.
  if (!(disturbance.duplicates >= 0 && disturbance.duplicates <= Disturbance::most_duplicates)) {
    throw Fault(FaultCode::source_refused, Poisons::connection,
                fmt::format("duplicates is a share from 0 to {}: with more the queue would hardly ever become empty",
                            Disturbance::most_duplicates));
  }
  if (disturbance.reorder > Disturbance::most_reorder) {
    throw Fault(FaultCode::source_refused, Poisons::connection,
                fmt::format("reorder is a number of messages from 0 to {}", Disturbance::most_reorder));
  }
}

bool Disturber::comes_again() {
  if (disturbance_.duplicates == 0) return false;
  constexpr double span = 9007199254740992.0;  // 2^53: every drawn number is one that a double can hold
  return static_cast<double>(draw() >> 11) / span < disturbance_.duplicates;
}

// splitmix64
std::uint64_t Disturber::draw() {
  std::uint64_t mixed = state_ += 0x9E37'79B9'7F4A'7C15u;
  mixed = (mixed ^ mixed >> 30) * 0xBF58'476D'1CE4'E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D0'49BB'1331'11EBu;
  return mixed ^ mixed >> 31;
}

}  // namespace onceward
