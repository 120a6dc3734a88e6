// What has arrived at the broker, against what was staged: every message there with its exact bytes, none that nobody
// staged, repeats counted, and the order of each key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/broker/bare.h"
#include "bench/work/report.h"

namespace onceward::bench {

struct Arrived {
  std::uint64_t distinct = 0, repeats = 0, foreign = 0, damaged = 0;
  std::uint64_t out_of_order = 0;  // behind a later one of its key
  std::uint64_t sum = 0;           // over everything that stands on the wire, in any order; of the first of each
};

class Arrivals {
 public:
  explicit Arrivals(const Workload& work);

  // Takes from the broker until so many different messages are there and nothing more comes, or nothing has come for long.
  void drain(BareBroker& broker, std::uint64_t distinct);
  bool has(Index message) const { return times_[message] > 0; }
  const Arrived& found() const { return found_; }

 private:
  void take(const BareMessage& message);

  const Workload& work_;
  const Numbers numbers_;
  std::vector<std::uint8_t> times_;
  std::vector<std::int64_t> last_version_;  // by account
  Arrived found_;
};

// Whether what was staged is there; and of a key in its order, where that was promised.
std::vector<Bar> arrival_bars(const std::string& name, const Arrived& arrived, std::uint64_t staged, bool ordered);

}  // namespace onceward::bench
