#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/stores.h"
#include "apps/cli/urls.h"
#include "onceward/declaration.h"

namespace onceward::cli {
namespace {

void check_file(Session& session, const std::string& path) {
  const std::string toml = read_file(path);
  const auto read = read_application(toml, path);
  const auto* const application = std::get_if<Application>(&read);
  const auto mistakes = application ? mistakes_in_urls(*application, toml, path) : std::get<std::vector<Mistake>>(read);
  if (mistakes.empty()) {
    fmt::print("{}: {} consumer(s), no mistakes\n", path, application->consumers.size());
    return;
  }
  fmt::print(stderr, "{}", to_string(mistakes));
  session.ending = Exit::error;
}

}  // namespace

void add_config_check(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(parent, "check", "Reads the application file and shows every mistake in it",
                                        "onceward config check app.toml");
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "The application file")->required();
  command->callback([&session, path] { check_file(session, *path); });
}

}  // namespace onceward::cli
