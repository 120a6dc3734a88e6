#include "apps/cli/commands/quarantine/act.h"

namespace onceward::cli {

void add_quarantine_discard(CLI::App& parent, Session& session) {
  add_quarantine_action(parent, session, records::Action::discard,
                        "Gives parked messages up: they stay as evidence and are never applied",
                        "onceward quarantine discard 17 18 --why \"test traffic\"");
}

}  // namespace onceward::cli
