#include "apps/cli/commands/outbox/act.h"

namespace onceward::cli {

void add_outbox_discard(CLI::App& parent, Session& session) {
  add_outbox_action(parent, session, records::Action::discard,
                    "Gives messages up that wait or are quarantined: they stay as evidence and are never published",
                    "onceward outbox discard 17 18 --why \"test traffic\"");
}

}  // namespace onceward::cli
