#include "apps/cli/commands/ledger/act.h"

#include <fmt/format.h>

#include "apps/cli/commands/ledger/rows.h"
#include "apps/cli/row_action.h"
#include "src/records/ledger_action.h"

namespace onceward::cli {
namespace {

using records::CallState;

class LedgerAction final : public RowAction {
 public:
  explicit LedgerAction(records::Action action) : RowAction(action, "the ledger") { command_.action = action; }

  std::string_view eligible() const override { return "eligible"; }
  std::string_view condition() const override {
    if (action() == records::Action::cancel) return "planned, waiting or approved";
    return command_.sure ? "failed or unknown" : "failed";
  }
  const std::vector<std::string>& columns() const override { return ledger_columns; }
  void add_filter_options(CLI::App& command) override {
    const bool cancel = action() == records::Action::cancel;
    cli::add_filter_options(command, command_.filter,
                            cancel ? std::vector{CallState::planned, CallState::waiting, CallState::approved}
                                   : std::vector{CallState::failed, CallState::unknown});
    if (cancel) return;
    command.add_flag("--sure", command_.sure,
                     "Also what is unknown: it may have been done, and whoever knows that it was not says so");
  }
  records::Numbers& numbers() override { return command_.filter.numbers; }
  bool says_nothing() const override { return command_.filter == records::LedgerFilter(); }

  bool names_are_known(Session&, Store&) override { return true; }
  std::int64_t count(Store& store, const records::Numbers& numbers) override {
    return records::count_ledger(store, {.numbers = numbers});
  }
  Seen preview(Store& store) override {
    records::LedgerPreview seen = records::preview(store, command_);
    command_.numbers = std::move(seen.numbers);
    if (seen.unknown > 0) {
      fmt::print(stderr, "{} matching call(s) are unknown and may have been done: look them up, or add --sure\n",
                 seen.unknown);
    }
    return {seen.matching, seen.eligible, json_of(seen.first)};
  }
  records::Progress carry_out(Store& store, const Mandate& mandate, const records::GoOn& go_on) override {
    command_.who = mandate.who;
    command_.why = mandate.why;
    return records::carry_out(store, command_, go_on);
  }

 private:
  records::LedgerCommand command_;
};

}  // namespace

void add_ledger_action(CLI::App& parent, Session& session, records::Action action, const std::string& summary,
                       const std::string& example) {
  add_row_action(parent, session, std::make_shared<LedgerAction>(action), summary, example);
}

}  // namespace onceward::cli
