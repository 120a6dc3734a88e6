#include "src/declaration/route.h"

#include <algorithm>

#include "src/declaration/consumer.h"

namespace onceward::declaration {

void read_relay(Reading& reading, const Item& item, Application& application) {
  constexpr Key<RelayDeclaration> keys[] = {{"producer", into<&RelayDeclaration::producer>},
                                            {"retry", into<&RelayDeclaration::retry>},
                                            {"lease", into<&RelayDeclaration::lease>},
                                            {"poll", into<&RelayDeclaration::poll>}};
  read_table(reading, item, keys, application.relay);
}

RouteDeclaration read_route(Reading& reading, const Node& node) {
  constexpr Key<RouteDeclaration> keys[] = {{"name", into<&RouteDeclaration::name>},
                                            {"types", into<&RouteDeclaration::types>},
                                            {"to", into<&RouteDeclaration::to>},
                                            {"key", into<&RouteDeclaration::key>},
                                            {"order", into<&RouteDeclaration::order>}};
  RouteDeclaration route;
  read_table(reading, {node, Path()}, keys, route);
  return route;
}

bool type_fits(std::string_view pattern, std::string_view type) {
  const std::string ours = dead_letter_type("");
  if (type.starts_with(ours) && !pattern.starts_with(ours)) return false;  // no route takes them that does not say so
  return pattern.ends_with('*') ? type.starts_with(pattern.substr(0, pattern.size() - 1)) : type == pattern;
}

const RouteDeclaration* route_for(std::string_view type, const std::vector<RouteDeclaration>& routes) {
  const auto fits = [&](const std::string& pattern) { return type_fits(pattern, type); };
  const auto found = std::ranges::find_if(
      routes, [&](const RouteDeclaration& route) { return std::ranges::any_of(route.types, fits); });
  return found == routes.end() ? nullptr : &*found;
}

}  // namespace onceward::declaration
