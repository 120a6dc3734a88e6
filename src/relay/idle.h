// Lets those who stage know that nobody looks, so that the first of them tells.
#pragma once

#include "onceward/port/store.h"

namespace onceward::relay {

// Commits that the relays wait to be told. Look once more afterwards: what was staged before is not told. Waits for nobody.
// Nothing to do on SQLite, which cannot tell.
void say_idle(Store& store);

}  // namespace onceward::relay
