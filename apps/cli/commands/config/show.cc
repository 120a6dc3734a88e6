#include <fmt/format.h>

#include <cstdlib>

#include "apps/cli/command.h"
#include "apps/cli/redact.h"
#include "apps/cli/settings.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

struct SettingsChoice {
  std::string file;
  std::string store;
  bool origin = false;
};

// As `onceward run` decides: flag, environment, file, default.
void override_store(Setting& store, const SettingsChoice& choice) {
  for (const char* variable : {"DATABASE_URL", "ONCEWARD_STORE"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    store.value = redacted(value);
    store.origin = variable;
  }
  if (choice.store.empty()) return;
  store.value = redacted(choice.store);
  store.origin = "--store";
}

void show_settings(Session& session, const SettingsChoice& choice) {
  const Application application = read_application_file(choice.file);
  auto settings = settings_of(application, read_file(choice.file), choice.file);
  override_store(settings.front(), choice);
  std::vector<std::string> columns{"key", "value"};
  if (choice.origin) columns.push_back("origin");
  std::vector<nlohmann::ordered_json> rows;
  for (Setting& setting : settings) {
    rows.push_back({{"key", setting.key}, {"value", std::move(setting.value)}});
    if (choice.origin) rows.back()["origin"] = setting.origin;
  }
  print_rows(session, columns, rows);
}

}  // namespace

void add_config_show(CLI::App& parent, Session& session) {
  CLI::App* const command =
      add_command(parent, "show", "Shows every setting as `onceward run` would use it; secrets in URLs are left out",
                  "onceward config show app.toml --origin");
  auto choice = std::make_shared<SettingsChoice>();
  command->add_option("file", choice->file, "The application file")->required();
  command->add_option("--store", choice->store, "As for `onceward run`");
  command->add_flag("--origin", choice->origin,
                    "Also where each comes from: a flag, the environment, a line, the default");
  add_output_option(*command, session);
  command->callback([&session, choice] { show_settings(session, *choice); });
}

}  // namespace onceward::cli
