#include "apps/cli/commands/ledger/act.h"

namespace onceward::cli {

void add_ledger_cancel(CLI::App& parent, Session& session) {
  add_ledger_action(parent, session, records::Action::cancel,
                    "Gives calls up that are planned, wait for approval or were approved: they are never made",
                    "onceward ledger cancel 17 --why \"the order was withdrawn\"");
}

}  // namespace onceward::cli
