#include "apps/cli/commands/ledger/decide.h"

namespace onceward::cli {

void add_ledger_refuse(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(parent, "refuse", "Ends a call that waits for approval: it is never made",
                                        "onceward ledger refuse 17 --why \"the amount is wrong\"");
  auto choice = std::make_shared<DecisionChoice>();
  add_store_options(*command, choice->store);
  command->add_option("number", choice->number, "The row's number, as the list shows it")->required();
  add_mandate_options(*command, choice->mandate);
  add_output_option(*command, session);
  command->callback(
      [&session, choice] { decide(session, *choice, {"refuse", records::CallState::waiting, records::refuse_call}); });
}

}  // namespace onceward::cli
