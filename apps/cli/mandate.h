// Who changes something and why, and whether it may be done without asking.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/cli/command.h"

namespace onceward::cli {

struct Mandate {
  std::string who;
  std::string why;
  bool dry_run = false;
  bool yes = false;
};

void add_mandate_options(CLI::App& command, Mandate& mandate);
// Looks into the environment for who it is. Throws CLI::ValidationError where one of the two is missing or cannot be kept.
void complete(Mandate& mandate);
// Asks at a terminal; elsewhere only --yes is a yes. After a no the session ends with "refused".
bool allowed(Session& session, const Mandate& mandate, const std::string& question);

}  // namespace onceward::cli
