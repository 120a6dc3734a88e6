#include "apps/cli/commands/outbox/pausing.h"

namespace onceward::cli {

void add_outbox_resume(CLI::App& parent, Session& session) {
  add_pausing(parent, session, {.verb = "resume", .pauses = false},
              "Lets messages leave again for a target that was paused",
              "onceward outbox resume events --why \"the broker was moved\"");
}

}  // namespace onceward::cli
