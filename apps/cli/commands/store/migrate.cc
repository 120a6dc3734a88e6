#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

void migrate(const StoreChoice& choice, bool dry_run) {
  const auto store = open_store(choice);
  const SchemaStatus before = store->schema();
  if (before.version > before.newest) store->migrate();  // throws: the tables are newer than this program
  for (const std::string& step : before.pending) fmt::print("{} {}\n", dry_run ? "would apply" : "applying", step);
  if (dry_run) return;
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
  command->callback([choice, dry_run] { migrate(*choice, *dry_run); });
}

}  // namespace onceward::cli
