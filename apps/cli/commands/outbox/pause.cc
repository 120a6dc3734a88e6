#include "apps/cli/commands/outbox/pausing.h"

namespace onceward::cli {

void add_outbox_pause(CLI::App& parent, Session& session) {
  add_pausing(parent, session, {.verb = "pause", .pauses = true},
              "Stops what leaves for one target: its messages stay in the outbox, the others go on",
              "onceward outbox pause events --why \"the broker is moved\"");
}

}  // namespace onceward::cli
