#include "src/relay/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "src/declaration/route.h"

namespace onceward::relay {
namespace {

constexpr std::size_t most_types = 10'000;

}  // namespace

Routes::Routes(std::span<const RelayRoute> routes, std::size_t targets) : routes_(routes) {
  for (const RelayRoute& route : routes_) {
    if (route.target >= targets) throw std::invalid_argument("relay: a route leads to a target that is not there");
    for (const std::string& type : route.types) {
      if (type.empty() || type.substr(0, type.size() - 1).find('*') != std::string::npos) {
        throw std::invalid_argument(fmt::format("relay: \"{}\" is no type: '*' may only stand at its end", type));
      }
    }
  }
}

const RelayRoute* Routes::find(std::string_view type) {
  if (found_.size() > most_types) found_.clear();
  const auto [place, fresh] = found_.try_emplace(std::string(type), nullptr);
  if (!fresh) return place->second;
  const auto route = std::ranges::find_if(routes_, [&](const RelayRoute& one) {
    return std::ranges::any_of(one.types,
                               [&](const std::string& pattern) { return declaration::type_fits(pattern, type); });
  });
  if (route != routes_.end()) place->second = &*route;
  return place->second;
}

bool Routes::any_ordered() const { return std::ranges::any_of(routes_, &RelayRoute::ordered); }

std::string_view Routes::key_of(const RelayRoute& route, const OutboxRow& row) {
  if (route.key == "{key}") return row.partition_key;
  if (route.key == "{type}") return row.envelope.event_type().text();
  return route.key;
}

}  // namespace onceward::relay
