#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

void refuse_newer(Store& store, const SchemaStatus& found) {
  if (found.version > found.newest) store.migrate();  // throws: the tables are newer than this program
}

void only_say(const StoreChoice& choice) {
  try {
    const auto store = open_store(choice, daemon::StoreUse::reading);
    const SchemaStatus found = store->schema();
    refuse_newer(*store, found);
    for (const std::string& step : found.pending) fmt::print("would apply {}\n", step);
  } catch (const Fault& fault) {
    if (fault.fault() != FaultCode::schema_missing) throw;
    fmt::print("would make the database and apply every step\n");
  }
}

void migrate(const StoreChoice& choice) {
  const auto store = open_store(choice, daemon::StoreUse::all);
  const SchemaStatus before = store->schema();
  refuse_newer(*store, before);
  for (const std::string& step : before.pending) fmt::print("applying {}\n", step);
  const SchemaStatus after = store->migrate();
  fmt::print(stderr, "{}: {} at version {}\n", store->describe(),
             before.pending.empty() ? "nothing to do," : "migrated, now", after.version);
}

}  // namespace

void add_store_migrate(CLI::App& parent, Session&) {
  CLI::App* const command =
      add_command(parent, "migrate", "Brings Onceward's tables up to this program's version; safe to repeat",
                  "onceward store migrate --store postgres://app@localhost/shop");
  auto choice = std::make_shared<StoreChoice>();
  auto dry_run = std::make_shared<bool>(false);
  add_store_options(*command, *choice);
  command->add_flag("--dry-run", *dry_run, "Only says what it would apply");
  command->callback([choice, dry_run] { *dry_run ? only_say(*choice) : migrate(*choice); });
}

}  // namespace onceward::cli
