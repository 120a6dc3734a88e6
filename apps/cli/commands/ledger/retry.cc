#include "apps/cli/commands/ledger/act.h"

namespace onceward::cli {

void add_ledger_retry(CLI::App& parent, Session& session) {
  add_ledger_action(parent, session, records::Action::retry,
                    "Makes calls anew that have failed, under their old keys and with all their attempts",
                    "onceward ledger retry --endpoint gateway --why \"the account is open again\"");
}

}  // namespace onceward::cli
