// What AMQP 0-9-1 and its server allow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace onceward::rabbitmq {

inline constexpr std::size_t most_short_bytes = 255;    // of names and keys
inline constexpr int most_frame_bytes = 128 * 1024;     // as we ask for it
inline constexpr std::uint16_t most_messages = 65'535;  // in a prefetch, and in a window

}  // namespace onceward::rabbitmq
