#include "src/declaration/address.h"

#include <algorithm>
#include <charconv>

namespace onceward::declaration {

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

namespace {

bool is_host_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
}

// Four numbers of 0 to 255.
bool is_ipv4(std::string_view host) {
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = part < 3 ? host.find('.') : host.size();
    if (dot == std::string_view::npos) return false;
    const auto number = read_port(host.substr(0, dot));
    if (!number || *number > 255 || dot > 3) return false;
    host.remove_prefix(part < 3 ? dot + 1 : dot);
  }
  return true;
}

}  // namespace

std::optional<Address> read_address(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  const std::size_t colon = bracketed ? text.find("]:") : text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view host = bracketed ? text.substr(1, colon - 1) : text.substr(0, colon);
  const auto port = read_port(text.substr(colon + (bracketed ? 2 : 1)));
  const bool good = std::ranges::all_of(
      host, [&](char c) { return bracketed ? is_host_character(c) || c == ':' : is_host_character(c); });
  if (host.empty() || !good || !port) return std::nullopt;
  return Address{std::string(host), *port};
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_ipv4(host));
}

}  // namespace onceward::declaration
