#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/ledger/rows.h"
#include "apps/cli/payload.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

struct CallChoice {
  StoreChoice store;
  std::int64_t number = 0;
  bool payload = false;
};

void show_call(Session& session, const CallChoice& choice) {
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  const auto call = records::read_call(*store, choice.number);
  if (!call) {
    fmt::print(stderr, "onceward: the ledger has no row {}\n", choice.number);
    session.ending = Exit::not_found;
    return;
  }
  nlohmann::ordered_json record = json_of(*call);
  if (choice.payload) {
    if (const auto body = records::read_call_body(*store, choice.number)) add_payload(record, *body);
  }
  print_record(session, record);
}

}  // namespace

void add_ledger_show(CLI::App& parent, Session& session) {
  CLI::App* const command =
      add_command(parent, "show", "Shows one call with every attempt at it, what asked for it, and what people decided",
                  "onceward ledger show 17");
  auto choice = std::make_shared<CallChoice>();
  add_store_options(*command, choice->store);
  command->add_option("number", choice->number, "The row's number, as the list shows it")->required();
  command->add_flag("--payload", choice->payload, "Also the call's body");
  add_output_option(*command, session);
  command->callback([&session, choice] { show_call(session, *choice); });
}

}  // namespace onceward::cli
