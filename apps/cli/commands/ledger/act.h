// What retry and cancel share.
#pragma once

#include "apps/cli/command.h"
#include "src/records/steps.h"

namespace onceward::cli {

void add_ledger_action(CLI::App& parent, Session& session, records::Action action, const std::string& summary,
                       const std::string& example);

}  // namespace onceward::cli
