// The keys of [relay] and [[route]].
#pragma once

#include "onceward/declaration.h"
#include "src/declaration/reading.h"

namespace onceward::declaration {

// Each reads what can be read; the rules are not applied.
void read_relay(Reading& reading, const Item& item, Application& application);
RouteDeclaration read_route(Reading& reading, const Node& node);

// Whether messages of this type are meant by one of a route's types. Dead letters are only by one that names them.
bool type_fits(std::string_view pattern, std::string_view type);
// The one that they take; nothing if none does.
const RouteDeclaration* route_for(std::string_view type, const std::vector<RouteDeclaration>& routes);

}  // namespace onceward::declaration
