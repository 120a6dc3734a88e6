// The command line. Every command is listed here; each stands in commands/<noun>/<verb>.cc.
#include "onceward/run.h"

#include <fmt/format.h>

#include <exception>

#include "apps/cli/command.h"
#include "onceward/fault.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"

namespace onceward {
namespace cli {
namespace {

void add_ledger(CLI::App& app, Session& session) {
  CLI::App* const ledger =
      add_command(app, "ledger", "Calls to external systems, and what became of them", "onceward ledger ls");
  ledger->require_subcommand(1);
  add_ledger_ls(*ledger, session);
  add_ledger_show(*ledger, session);
  add_ledger_approve(*ledger, session);
  add_ledger_refuse(*ledger, session);
  add_ledger_retry(*ledger, session);
  add_ledger_cancel(*ledger, session);
  add_ledger_reconcile(*ledger, session);
}

void add_commands(CLI::App& app, Session& session) {
  app.require_subcommand(1);
  CLI::App* const store = add_command(app, "store", "The tables in your database", "onceward store status --help");
  store->require_subcommand(1);
  add_store_migrate(*store, session);
  add_store_status(*store, session);
  CLI::App* const config = add_command(app, "config", "The application file", "onceward config check app.toml");
  config->require_subcommand(1);
  add_config_check(*config, session);
  add_config_show(*config, session);
  CLI::App* const inbox = add_command(app, "inbox", "What was received, and what became of it", "onceward inbox ls");
  inbox->require_subcommand(1);
  add_inbox_ls(*inbox, session);
  add_inbox_show(*inbox, session);
  CLI::App* const quarantine =
      add_command(app, "quarantine", "What was refused or ran out of attempts", "onceward quarantine ls");
  quarantine->require_subcommand(1);
  add_quarantine_ls(*quarantine, session);
  add_quarantine_show(*quarantine, session);
  add_quarantine_retry(*quarantine, session);
  add_quarantine_discard(*quarantine, session);
  CLI::App* const outbox = add_command(app, "outbox", "What is to leave, and what could not", "onceward outbox ls");
  outbox->require_subcommand(1);
  add_outbox_ls(*outbox, session);
  add_outbox_show(*outbox, session);
  add_outbox_retry(*outbox, session);
  add_outbox_discard(*outbox, session);
  add_outbox_pause(*outbox, session);
  add_outbox_resume(*outbox, session);
  add_ledger(app, session);
  CLI::App* const doctor = add_command(app, "doctor", "Looks for what is wrong", "onceward doctor sources app.toml");
  doctor->require_subcommand(1);
  add_doctor_sources(*doctor, session);
  add_send(app, session);
  add_tail(app, session);
  add_run(app, session);
  add_demo(app, session);
  add_version(app, session);
}

// What was taken for a command and is none, with those that there are; empty if that was not the mistake.
std::string unknown_command(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  const std::vector<std::string> words = at->remaining();
  std::vector<std::string> names;
  for (const CLI::App* const command : at->get_subcommands(nullptr)) names.push_back(command->get_name());
  if (words.empty() || words.front().starts_with('-') || names.empty()) return {};
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("there is no command {} {}; {}", at->get_display_name(), declaration::excerpt(words.front()),
                     declaration::suggest(words.front(), views));
}

int parse(int argc, char** argv, const Handlers& handlers, const Endpoints& endpoints) {
  CLI::App app{"Makes duplicate message delivery harmless.", "onceward"};
  app.footer("Example: onceward store migrate --store sqlite:app.db");
  Session session;
  session.handlers = &handlers;
  session.endpoints = &endpoints;
  add_commands(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& mistake) {
    const std::string unknown = unknown_command(app);
    unknown.empty() ? static_cast<void>(app.exit(mistake)) : fmt::print(stderr, "onceward: {}\n", unknown);
    return Exit::usage;
  } catch (const Fault& fault) {
    fmt::print(stderr, "onceward: {}: {}\n", code(fault.fault()), fault.what());
    return exit_of(fault.fault());
  }
  return session.ending;
}

}  // namespace
}  // namespace cli

int run(int argc, char** argv, const Handlers& handlers, const Endpoints& endpoints) {
  try {
    return cli::parse(argc, argv, handlers, endpoints);
  } catch (const std::exception& unexpected) {
    fmt::print(stderr, "onceward: {}\n", unexpected.what());
    return Exit::error;
  }
}

}  // namespace onceward
