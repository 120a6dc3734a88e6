// What retry and discard share: which rows, who and why, a preview, and the counts.
#pragma once

#include "apps/cli/command.h"
#include "src/records/action.h"

namespace onceward::cli {

void add_action(CLI::App& parent, Session& session, records::Action action, const std::string& summary,
                const std::string& example);

}  // namespace onceward::cli
