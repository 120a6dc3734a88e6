// Two ways to put the ledger right: a person says what became of one unknown call, or all calls to an endpoint are compared
// with its own list.
#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/ledger/comparing.h"
#include "apps/cli/commands/ledger/decide.h"
#include "apps/cli/options.h"

namespace onceward::cli {
namespace {

struct ReconcileChoice : DecisionChoice {
  std::string found;
  std::string reference;
  std::optional<Timestamp> since;
  std::string endpoint;
};

void resolve(Session& session, ReconcileChoice& choice) {
  if (choice.found.empty()) {
    throw CLI::ValidationError("--as", "what became of the call: done or not-done; or compare with --since");
  }
  const bool done = choice.found == "done";
  if (!done && !choice.reference.empty()) {
    throw CLI::ValidationError("--reference", "what was not done has no reference");
  }
  const auto decide_it = [&](Store& store, const records::Decision& decision) {
    return records::resolve_call(store, decision, done ? records::Found::done : records::Found::not_done,
                                 choice.reference);
  };
  decide(session, choice, {"reconcile", records::CallState::unknown, decide_it});
}

void reconcile(Session& session, ReconcileChoice& choice) {
  if ((choice.number != 0) == choice.since.has_value()) {
    throw CLI::ValidationError("reconcile", "takes the number of an unknown call, or --since to compare with a list");
  }
  if (!choice.since) return resolve(session, choice);
  if (!choice.found.empty() || !choice.reference.empty()) {
    throw CLI::ValidationError("--since", "compares and changes nothing: leave out --as and --reference");
  }
  compare_with_lists(session, choice.store, *choice.since, choice.endpoint);
}

}  // namespace

void add_ledger_reconcile(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(
      parent, "reconcile",
      "Says what became of an unknown call; or, with --since, compares the ledger with an endpoint's own list",
      "onceward ledger reconcile 17 --as done --reference ch_81 --why \"seen in their portal\"");
  auto choice = std::make_shared<ReconcileChoice>();
  add_store_options(*command, choice->store);
  command->add_option("number", choice->number, "An unknown call, as the list shows it")->check(CLI::PositiveNumber);
  command->add_option("--as", choice->found, "What became of it; not-done: it is made anew")
      ->check(CLI::IsMember({"done", "not-done"}));
  command->add_option("--reference", choice->reference, "The other side's own name for what was done");
  add_time_option(*command, "--since", choice->since, "Compares calls attempted then or later; needs --config");
  command->add_option("--endpoint", choice->endpoint, "Only of this endpoint; else of all that declare a list");
  add_mandate_options(*command, choice->mandate);
  command->get_option("--why")->required(false);
  add_output_option(*command, session);
  command->callback([&session, choice] { reconcile(session, *choice); });
}

}  // namespace onceward::cli
