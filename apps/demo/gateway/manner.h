// How the gateway misbehaves: a function of the seed and the key, and of nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace onceward::demo {

enum class Manner : std::uint8_t {
  prompt,
  slow,              // and yet in time
  too_slow,          // does the work, and answers when nobody waits any more
  loses_reply,       // does the work, and closes the connection
  fails_after_work,  // does the work, and answers 500
  drops_request,     // closes the connection, and has done nothing
  mute,              // loses the reply, and never answers a look-up
};
inline constexpr int manners = 7;

struct Conduct {
  Manner manner = Manner::prompt;
  std::chrono::milliseconds delay{};  // of those that are slow
};

// Of the first request under a key; whoever asks again is answered at once, except by one that is mute.
Conduct conduct_of(std::uint64_t seed, std::string_view key);

}  // namespace onceward::demo
