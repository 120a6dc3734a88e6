// Where something listens: host:port, with an IPv6 address in brackets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::declaration {

struct Address {
  std::string host;  // without brackets
  std::uint16_t port = 0;
};
std::optional<Address> read_address(std::string_view text);
// A number that a port can have, 0 included.
std::optional<std::uint16_t> read_port(std::string_view text);

// 127.0.0.0/8, ::1 or localhost, in these spellings: whatever else a name server or a short form might lead there.
bool is_loopback(std::string_view host);

inline constexpr std::string_view listen_hint = "a host and a port, e.g. \"127.0.0.1:9464\"; port 0 takes a free one";

}  // namespace onceward::declaration
