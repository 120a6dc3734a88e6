// The keys of [[endpoint]], [[consumer.call]] and [ingress]: what leaves by calls, and what comes in by requests.
#pragma once

#include "onceward/declaration.h"
#include "src/declaration/reading.h"

namespace onceward::declaration {

// Each reads what can be read; the rules are not applied.
EndpointDeclaration read_endpoint(Reading& reading, const Node& node);
void read(Reading& reading, const Item& item, std::vector<CallDeclaration>& calls);
void read_ingress(Reading& reading, const Item& item, Application& application);

}  // namespace onceward::declaration
