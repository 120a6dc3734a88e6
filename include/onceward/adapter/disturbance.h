// What a queue of ours does to its consumers when it is asked to, and what brokers do to them now and then: for demos and
// tests. The same seed, the same messages and one source give the same deliveries.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onceward {

struct Disturbance {
  static constexpr double most_duplicates = 0.9;
  static constexpr std::size_t most_reorder = 10'000;

  // The share of accepted deliveries that are handed out again, as if the answer had been lost.
  double duplicates = 0;
  // So many messages more than are asked for are drawn from, in any order; the rest wait for the next receive().
  std::size_t reorder = 0;
  std::uint64_t seed = 1;
};

}  // namespace onceward
