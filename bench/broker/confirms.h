// Which of the published messages are confirmed. They are numbered from 1 on; answers come in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace onceward::bench {

class Confirms {
 public:
  explicit Confirms(std::size_t window) : window_(window), confirmed_(4 * window) {}

  // The next message's number. Only while there is room.
  std::uint64_t add() { return ++open_, ++sent_; }
  std::size_t room() const {
    return std::min(window_ - open_, confirmed_.size() - static_cast<std::size_t>(sent_ - prefix_));
  }
  std::size_t window() const { return window_; }
  bool all() const { return open_ == 0; }
  // All up to this number are confirmed.
  std::uint64_t prefix() const { return prefix_; }

  void confirm(std::uint64_t number) {
    if (number <= prefix_ || confirmed_[number % confirmed_.size()]) return;
    confirmed_[number % confirmed_.size()] = true;
    --open_;
    while (prefix_ < sent_ && confirmed_[(prefix_ + 1) % confirmed_.size()]) {
      ++prefix_;
      confirmed_[prefix_ % confirmed_.size()] = false;
    }
  }
  void confirm_up_to(std::uint64_t number) {
    for (std::uint64_t next = prefix_ + 1; next <= number; ++next) confirm(next);
  }

 private:
  const std::size_t window_;
  std::size_t open_ = 0;
  std::vector<bool> confirmed_;  // by number, round and round; those beyond the prefix
  std::uint64_t sent_ = 0, prefix_ = 0;
};

}  // namespace onceward::bench
