// When rows that wait are looked for, and for whom: one round is under way at a time, of one target after the other.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/relay/targets.h"
#include "src/relay/waiting.h"

namespace onceward::relay {

class DueRows {
 public:
  using Clock = std::chrono::steady_clock;

  // `waiting` must outlive this. A look is made no sooner than `between_looks` after the one before, and no sooner than ten
  // times as long as that took.
  DueRows(const Waiting& waiting, std::chrono::milliseconds between_looks, int most)
      : waiting_(waiting), between_looks_(between_looks), most_(most) {}

  // Of these slots, from what the store has of them. No round is under way.
  void start_anew(std::vector<int> slots);
  const std::vector<int>& slots() const { return slots_; }

  // The rows of the next round, of a target that is not away; none while one is under way, or too soon.
  std::vector<OutboxRow> next(const Targets::Names& away);
  bool under_way() const { return under_way_; }
  // The round is noted. When some of it have left, the next of their keys may be due at once.
  void ended(bool some_left);
  // A row that goes there waits from now on.
  void expect(std::string_view target);

 private:
  const Waiting& waiting_;
  const std::chrono::milliseconds between_looks_;
  const int most_;
  std::vector<int> slots_;
  std::set<std::string, std::less<>> targets_;  // to which rows go that wait
  std::string last_;                            // of them, that was looked for
  bool under_way_ = false;
  Clock::time_point look_at_{};
};

}  // namespace onceward::relay
