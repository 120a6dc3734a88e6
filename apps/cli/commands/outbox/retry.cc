#include "apps/cli/commands/outbox/act.h"

namespace onceward::cli {

void add_outbox_retry(CLI::App& parent, Session& session) {
  add_outbox_action(parent, session, records::Action::retry,
                    "Lets messages that wait or are quarantined go again at once, each with all its attempts",
                    "onceward outbox retry --state quarantined --type payment. --why \"the exchange is there now\"");
}

}  // namespace onceward::cli
