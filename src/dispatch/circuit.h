// Whether an endpoint is worth asking: after so many in a row that came to nothing it is left alone for a while, and then one
// call finds out.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>

#include "onceward/port/endpoint.h"

namespace onceward::dispatch {

class Circuit {
 public:
  using Clock = std::chrono::steady_clock;

  Circuit(int failures, std::chrono::milliseconds pause) : most_(failures), pause_(pause) {}

  bool closed() const { return state_ == State::closed; }
  // How many may be under way beside those that are.
  std::size_t allowed(std::size_t under_way, Clock::time_point now) {
    if (state_ == State::open && now >= open_until_) state_ = State::half_open;
    if (state_ == State::closed) return std::numeric_limits<std::size_t>::max();
    return state_ == State::half_open && under_way == 0 ? 1 : 0;
  }
  Clock::time_point open_until() const { return open_until_; }

  // True if it has opened.
  bool note(EndpointAnswer::Kind kind, Clock::time_point now) {
    using Kind = EndpointAnswer::Kind;
    const bool in_vain = kind == Kind::not_sent || kind == Kind::unknown || kind == Kind::later;
    // A look-up that says nothing may be one that was answered well.
    if (kind == Kind::still_unknown && state_ != State::half_open) return false;
    if (!in_vain && kind != Kind::still_unknown) {
      state_ = State::closed;
      in_a_row_ = 0;
      return false;
    }
    if (state_ == State::closed && ++in_a_row_ < most_) return false;
    if (state_ == State::open) return false;
    const bool opened = state_ == State::closed;
    state_ = State::open;
    open_until_ = now + pause_;
    return opened;
  }

 private:
  enum class State { closed, open, half_open };
  const int most_;
  const std::chrono::milliseconds pause_;
  State state_ = State::closed;
  int in_a_row_ = 0;
  Clock::time_point open_until_{};
};

}  // namespace onceward::dispatch
