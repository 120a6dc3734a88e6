// The effect of a good message in these tests: two writes, two outgoing messages and a call.
#pragma once

#include "onceward/handler.h"
#include "tests/crash/point.h"

namespace onceward::crash {

// `at` is told the points that are passed.
template <class At>
Outcome apply_effect(const Envelope& message, Transaction& transaction, At&& at) {
  const auto id = message.message_id();
  transaction.execute_counted("INSERT INTO effect (message) VALUES ($1)", id);
  at(Point::between_writes);
  transaction.execute_counted("UPDATE effect SET note = 'whole' WHERE message = $1", id);
  transaction.stage(Outgoing{.type = "first", .key = id.text(), .payload = "{}"});
  at(Point::between_outgoing);
  transaction.stage(Outgoing{.type = "second", .key = id.text(), .payload = "{}"});
  transaction.stage(Call{.endpoint = "gateway", .key = id.text(), .body = "{}"});
  at(Point::call_staged);
  return Done{};
}

}  // namespace onceward::crash
