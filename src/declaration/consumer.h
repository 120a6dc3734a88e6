// The keys of [[consumer]].
#pragma once

#include "onceward/declaration.h"
#include "src/declaration/reading.h"

namespace onceward::declaration {

// Reads what can be read; the rules are not applied.
Declaration read_consumer(Reading& reading, const Node& node);

// Of consumers and of the relay.
void read(Reading& reading, const Item& item, RetryBudget& retry);

// In a file of its own: the keys of [consumer.identity].
void read(Reading& reading, const Item& item, IdentityPolicy& identity);

}  // namespace onceward::declaration
