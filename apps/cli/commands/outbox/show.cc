#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/outbox/rows.h"
#include "apps/cli/payload.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

struct OutgoingChoice {
  StoreChoice store;
  std::int64_t number = 0;
  bool payload = false;
};

void show_outgoing(Session& session, const OutgoingChoice& choice) {
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  const auto row = records::read_outgoing(*store, choice.number);
  if (!row) {
    fmt::print(stderr, "onceward: the outbox has no row {}, or it was published\n", choice.number);
    session.ending = Exit::not_found;
    return;
  }
  nlohmann::ordered_json record = json_of(*row);
  if (choice.payload) {
    if (const auto payload = records::read_outgoing_payload(*store, choice.number)) add_payload(record, *payload);
  }
  print_record(session, record);
}

}  // namespace

void add_outbox_show(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(
      parent, "show", "Shows one message with all its fields, and why it has not left", "onceward outbox show 17");
  auto choice = std::make_shared<OutgoingChoice>();
  add_store_options(*command, choice->store);
  command->add_option("number", choice->number, "The row's number, as the list shows it")->required();
  command->add_flag("--payload", choice->payload, "Also the message's payload");
  add_output_option(*command, session);
  command->callback([&session, choice] { show_outgoing(session, *choice); });
}

}  // namespace onceward::cli
