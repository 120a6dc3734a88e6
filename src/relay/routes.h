// Which route a message takes, by its type.
#pragma once

#include <string_view>
#include <unordered_map>

#include "onceward/relay.h"
#include "src/relay/row.h"

namespace onceward::relay {

class Routes {
 public:
  // The routes must outlive this. Throws std::invalid_argument.
  Routes(std::span<const RelayRoute> routes, std::size_t targets);

  const RelayRoute* find(std::string_view type);  // nothing: no route fits
  bool any_ordered() const;
  static std::string_view key_of(const RelayRoute& route, const OutboxRow& row);

 private:
  const std::span<const RelayRoute> routes_;
  std::unordered_map<std::string, const RelayRoute*> found_;  // bounded; types are few
};

}  // namespace onceward::relay
