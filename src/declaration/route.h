// The keys of [relay] and [[route]].
#pragma once

#include "onceward/declaration.h"
#include "src/declaration/reading.h"

namespace onceward::declaration {

// Each reads what can be read; the rules are not applied.
void read_relay(Reading& reading, const Item& item, Application& application);
RouteDeclaration read_route(Reading& reading, const Node& node);

}  // namespace onceward::declaration
