#include "apps/cli/commands/ledger/decide.h"
#include "src/declaration/duration.h"

namespace onceward::cli {
namespace {

struct ApprovalChoice : DecisionChoice {
  std::optional<std::chrono::seconds> lifetime;
};

// As said here, else as the endpoint's declaration says, else a day.
std::chrono::seconds lifetime_of(const ApprovalChoice& choice, const std::string& endpoint) {
  if (choice.lifetime) return *choice.lifetime;
  const EndpointDeclaration usual;
  if (choice.store.file.empty()) return usual.approval_lifetime;
  for (const EndpointDeclaration& declared : read_application_file(choice.store.file).endpoints) {
    if (declared.name == endpoint) return declared.approval_lifetime;
  }
  return usual.approval_lifetime;
}

void read_lifetime(const std::string& text, ApprovalChoice& choice) {
  const auto duration = declaration::read_duration(text);
  if (!duration || *duration < std::chrono::seconds(1) || *duration > records::longest_approval) {
    throw CLI::ValidationError("--for", "is a duration from 1s to 1y, e.g. 2h");
  }
  choice.lifetime = std::chrono::floor<std::chrono::seconds>(*duration);
}

}  // namespace

void add_ledger_approve(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(
      parent, "approve", "Lets a call go out that waits for approval; whoever asked for it cannot approve it",
      "onceward ledger approve 17 --why \"checked with the customer\"");
  auto choice = std::make_shared<ApprovalChoice>();
  add_store_options(*command, choice->store);
  command->add_option("number", choice->number, "The row's number, as the list shows it")->required();
  command->add_option_function<std::string>(
      "--for", [choice](const std::string& text) { read_lifetime(text, *choice); },
      "How long the approval holds; else as the file says of the endpoint, or 24h");
  add_mandate_options(*command, choice->mandate);
  add_output_option(*command, session);
  command->callback([&session, choice] {
    decide(session, *choice,
           {"approve", records::CallState::waiting, [choice](Store& store, const records::Decision& decision) {
              const auto call = records::read_call(store, decision.number);
              return records::approve_call(store, decision,
                                           lifetime_of(*choice, call ? call->row.endpoint : std::string()));
            }});
  });
}

}  // namespace onceward::cli
