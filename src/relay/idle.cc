#include "src/relay/idle.h"

namespace onceward::relay {

// Somebody who holds the row has staged, and will tell.
void say_idle(Store& store) {
  if (store.dialect() != Dialect::postgres) return;
  const auto unit = store.begin({});
  unit->whole().execute(
      "UPDATE onceward.relay_idle SET idle = true WHERE ctid = ANY (ARRAY(SELECT ctid FROM onceward.relay_idle "
      "WHERE NOT idle FOR UPDATE SKIP LOCKED))");
  unit->commit();
}

}  // namespace onceward::relay
