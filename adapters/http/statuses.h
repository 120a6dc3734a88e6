// What each status of HTTP means, as it is declared.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "onceward/port/endpoint.h"

namespace onceward::http {

class Statuses {
 public:
  using Kind = EndpointAnswer::Kind;
  struct Group {
    std::string_view name;  // for messages
    std::span<const std::string> statuses;
    Kind kind;
  };
  // "404" or "2xx"; a status goes before its class. Throws Fault(endpoint_refused) for what is neither, and for one that stands in
  // two groups.
  Statuses(std::initializer_list<Group> groups, Kind otherwise);

  Kind of(int status) const;

 private:
  static constexpr int first = 100, end = 600;

  Kind otherwise_;
  std::array<std::optional<Kind>, end / 100> classes_{};
  std::array<std::optional<Kind>, end> single_{};
};

}  // namespace onceward::http
