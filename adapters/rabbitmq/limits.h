// What AMQP 0-9-1 and its server allow.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace onceward::rabbitmq {

inline constexpr std::size_t most_short_bytes = 255;  // of names and keys
inline constexpr int most_frame_bytes = 128 * 1024;   // as we ask for it
inline constexpr std::chrono::seconds least_heartbeat{1}, most_heartbeat{600};
inline constexpr std::uint16_t most_messages = 65'535;  // in a prefetch, and in a window

// How often a message of a quorum queue that sets no limit comes back, by the server's version; -1: for ever. Nothing for what is
// no version.
std::optional<std::int32_t> default_delivery_limit(std::string_view version);

}  // namespace onceward::rabbitmq
