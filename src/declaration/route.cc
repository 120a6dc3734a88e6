#include "src/declaration/route.h"

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

}  // namespace onceward::declaration
