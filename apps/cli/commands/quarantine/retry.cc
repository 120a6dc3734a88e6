#include "apps/cli/commands/quarantine/act.h"

namespace onceward::cli {

void add_quarantine_retry(CLI::App& parent, Session& session) {
  add_quarantine_action(
      parent, session, records::Action::retry,
      "Sends parked messages again, each with its identity and all its attempts",
      "onceward quarantine retry --consumer payments --reason gateway_down --why \"the gateway is back\"");
}

}  // namespace onceward::cli
