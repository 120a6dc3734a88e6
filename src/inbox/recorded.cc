#include "src/inbox/recorded.h"

#include <utility>

namespace onceward {

Recorded recorded_of(Outcome outcome) {
  Recorded recorded{state_of(outcome), {}, {}, std::nullopt};
  if (auto* done = std::get_if<Done>(&outcome)) {
    recorded.result = std::move(done->result);
  } else {
    std::visit(
        [&](auto& other) {
          if constexpr (requires { other.code; }) recorded.code = std::move(other.code);
        },
        outcome);
  }
  return recorded;
}

}  // namespace onceward
