#include "apps/cli/mandate.h"

#include <fmt/format.h>

#include <cstdlib>

#include "apps/cli/terminal.h"
#include "src/records/audit.h"

namespace onceward::cli {
namespace {

std::string who_am_i() {
  for (const char* name : {"ONCEWARD_USER", "USER"}) {
    if (const char* const value = std::getenv(name); value && *value) return value;
  }
  return {};
}

}  // namespace

void add_mandate_options(CLI::App& command, Mandate& mandate) {
  command.add_option("--why,--reason-text", mandate.why, "Why: kept in the audit")->required();
  command.add_option("--who", mandate.who, "Who does it: kept in the audit; else ONCEWARD_USER or USER");
  command.add_flag("--dry-run", mandate.dry_run, "Only shows what would be affected");
  command.add_flag("--yes", mandate.yes, "Does not ask");
}

void complete(Mandate& mandate) {
  if (mandate.who.empty()) mandate.who = who_am_i();
  if (const std::string wrong = records::wrong_with(mandate.who, mandate.why); !wrong.empty()) {
    throw CLI::ValidationError("--who and --why", wrong);
  }
}

bool allowed(Session& session, const Mandate& mandate, const std::string& question) {
  if (mandate.yes) return true;
  const bool asked = can_ask();
  if (asked && confirmed(question)) return true;
  fmt::print(stderr, "onceward: nothing was changed{}\n", asked ? "" : ": without a terminal this needs --yes");
  session.ending = Exit::refused;
  return false;
}

}  // namespace onceward::cli
