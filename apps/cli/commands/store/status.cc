#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

void status(Session& session, const StoreChoice& choice) {
  const auto store = open_store(choice, daemon::StoreUse::reading);
  const SchemaStatus schema = store->schema();
  const char* const state = schema.version > schema.newest ? "newer than this program"
                            : schema.pending.empty()       ? "ready"
                            : schema.version == 0          ? "not migrated"
                                                           : "behind";
  print_rows(
      session, {"store", "version", "newest", "state"},
      {{{"store", store->describe()}, {"version", schema.version}, {"newest", schema.newest}, {"state", state}}});
  if (!schema.pending.empty()) {
    fmt::print(stderr, "{} step(s) to apply: run `onceward store migrate`\n", schema.pending.size());
  }
  if (schema.version != schema.newest) session.ending = Exit::refused;
}

}  // namespace

void add_store_status(CLI::App& parent, Session& session) {
  CLI::App* const command =
      add_command(parent, "status", "Says whether the store can be used; exit code 6 if its tables are not ready",
                  "onceward store status --store sqlite:app.db -o json");
  auto choice = std::make_shared<StoreChoice>();
  add_store_options(*command, *choice);
  add_output_option(*command, session);
  command->callback([&session, choice] { status(session, *choice); });
}

}  // namespace onceward::cli
