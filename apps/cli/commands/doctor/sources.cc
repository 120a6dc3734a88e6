#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/stores.h"
#include "apps/doctor/examine.h"

namespace onceward::cli {
namespace {

void examine_sources(Session& session, const std::string& file) {
  const Application application = read_application_file(file);
  std::vector<nlohmann::ordered_json> rows;
  bool connected = true, healthy = true;
  for (const Declaration& consumer : application.consumers) {
    if (consumer.source.empty()) continue;
    for (const doctor::Examination& examination :
         {doctor::examine(consumer), doctor::examine_dead_letters(consumer, application.routes)}) {
      connected = connected && examination.connected;
      for (const doctor::Observation& seen : examination.observations) {
        healthy = healthy && seen.status != doctor::Observation::Status::problem;
        rows.push_back(
            {{"consumer", consumer.name}, {"check", seen.check}, {"status", name(seen.status)}, {"what", seen.text}});
      }
    }
  }
  print_rows(session, {"consumer", "check", "status", "what"}, rows);
  if (rows.empty()) fmt::print(stderr, "onceward: no consumer of {} has a source\n", file);
  if (!healthy) session.ending = connected ? Exit::refused : Exit::unavailable;
}

}  // namespace

void add_doctor_sources(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(
      parent, "sources", "Connects to each consumer's source and says what is wrong with it; takes and makes nothing",
      "onceward doctor sources app.toml");
  auto file = std::make_shared<std::string>();
  command->add_option("file", *file, "The application file")->required();
  add_output_option(*command, session);
  command->callback([&session, file] { examine_sources(session, *file); });
}

}  // namespace onceward::cli
