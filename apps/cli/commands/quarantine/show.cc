#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/quarantine/rows.h"
#include "apps/cli/payload.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

struct RowChoice {
  StoreChoice store;
  std::int64_t number = 0;
  bool payload = false;
};

void show_row(Session& session, const RowChoice& choice) {
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  const auto row = records::read_parked(*store, choice.number);
  if (!row) {
    fmt::print(stderr, "onceward: the quarantine has no row {}\n", choice.number);
    session.ending = Exit::not_found;
    return;
  }
  nlohmann::ordered_json record = json_of(*row);
  if (choice.payload) {
    if (const auto body = records::read_parked_body(*store, choice.number)) add_body(record, *body);
  }
  print_record(session, record);
}

}  // namespace

void add_quarantine_show(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(parent, "show", "Shows one row: why it is there, and whose message it is",
                                        "onceward quarantine show 17");
  auto choice = std::make_shared<RowChoice>();
  add_store_options(*command, choice->store);
  command->add_option("number", choice->number, "The row's number, as the list shows it")->required();
  command->add_flag("--payload", choice->payload, "Also the message's envelope and payload");
  add_output_option(*command, session);
  command->callback([&session, choice] { show_row(session, *choice); });
}

}  // namespace onceward::cli
