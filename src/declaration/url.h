// URLs of brokers and queues, read for the adapters. Boost.URL does the reading; here is what it is read into, and the
// options behind the question mark. No message repeats more of a URL than the name of an option.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/fault.h"
#include "src/declaration/suggestion.h"

namespace onceward::declaration {

struct UrlHost {
  std::string name;  // an IPv6 address without its brackets
  std::optional<std::uint16_t> port;
};
struct UrlOption {
  std::string name;
  std::string value;
  bool has_value = false;
};

// scheme://[user[:password]@]host[:port][,host[:port]...][/segment...][?option&option...], everything decoded.
struct Url {
  std::string user;
  std::optional<std::string> password;
  std::vector<UrlHost> hosts;
  std::vector<std::string> segments;  // of the path; "/%2F" is one segment "/"
  std::vector<UrlOption> options;
};
// Else what is wrong with it.
std::variant<Url, std::string> read_url(std::string_view text);

// What is wrong with postgres://..., which libpq reads and would read otherwise than it was meant: a password with a bare /
// or @ makes a host or a database of its end, and those are shown. Nothing: libpq may have it.
std::optional<std::string> wrong_with_postgres_url(std::string_view text);
inline constexpr std::string_view password_hint =
    "in a user or password / is written %2F, @ %40, : %3A, ? %3F, # %23, % %25; ${NAME} takes it from the environment as "
    "it is";

// "name=value&name=value". Else what is wrong with it.
std::variant<std::vector<UrlOption>, std::string> read_url_options(std::string_view text);
// Percent and two digits stand for a byte; else what is wrong.
std::variant<std::string, std::string> percent_decoded(std::string_view text);

// The options of one URL, taken by their names. Throws Fault(refused, poisons its connection) for an option that is there
// twice, has no value, or a wrong one; for one that is unknown, with a hint.
class UrlOptions {
 public:
  // `kind` begins every message: "rabbitmq".
  UrlOptions(std::string_view kind, FaultCode refused, std::vector<UrlOption> options,
             std::span<const std::string_view> names);

  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least, std::int64_t most) const;
  std::optional<std::chrono::milliseconds> duration(std::string_view name, std::chrono::milliseconds least,
                                                    std::chrono::milliseconds most) const;
  std::optional<bool> flag(std::string_view name) const;  // true or false
  // The place of the value among the words.
  std::optional<std::size_t> choice(std::string_view name, std::span<const std::string_view> words) const;

  // "rabbitmq: " and what is wrong.
  Fault wrong(std::string_view what) const;

 private:
  std::string kind_;
  FaultCode refused_;
  std::vector<UrlOption> options_;
};

}  // namespace onceward::declaration
