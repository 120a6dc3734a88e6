// The command line. Every command is listed here; each stands in commands/<noun>/<verb>.cc.
#include <fmt/format.h>

#include <exception>

#include "apps/cli/command.h"
#include "onceward/fault.h"

namespace onceward::cli {
namespace {

Exit exit_of(FaultCode fault) {
  switch (fault) {
    case FaultCode::lost_race:
    case FaultCode::busy:
    case FaultCode::timed_out:
    case FaultCode::store_unavailable:
    case FaultCode::store_full:
    case FaultCode::store_refused:
    case FaultCode::store_read_only:
    case FaultCode::source_unavailable:
    case FaultCode::source_refused:
      return Exit::unavailable;
    case FaultCode::schema_missing:
    case FaultCode::schema_newer:
    case FaultCode::scheme_changed:
    case FaultCode::version_affected:
      return Exit::refused;
    case FaultCode::constraint_violated:
    case FaultCode::fact_exists:
    case FaultCode::call_conflict:
      return Exit::conflict;
    case FaultCode::store_corrupt:
    case FaultCode::statement_failed:
    case FaultCode::transaction_failed:
      break;
  }
  return Exit::error;
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
  add_demo(app, session);
  add_version(app, session);
}

int run(int argc, char** argv) {
  CLI::App app{"Makes duplicate message delivery harmless.", "onceward"};
  app.footer("Example: onceward store migrate --store sqlite:app.db");
  Session session;
  add_commands(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& mistake) {
    app.exit(mistake);
    return Exit::usage;
  } catch (const Fault& fault) {
    fmt::print(stderr, "onceward: {}: {}\n", code(fault.fault()), fault.what());
    return exit_of(fault.fault());
  }
  return session.ending;
}

}  // namespace
}  // namespace onceward::cli

int main(int argc, char** argv) {
  try {
    return onceward::cli::run(argc, argv);
  } catch (const std::exception& unexpected) {
    fmt::print(stderr, "onceward: {}\n", unexpected.what());
    return onceward::cli::Exit::error;
  }
}
