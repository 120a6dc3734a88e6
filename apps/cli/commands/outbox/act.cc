#include "apps/cli/commands/outbox/act.h"

#include "apps/cli/commands/outbox/rows.h"
#include "apps/cli/row_action.h"
#include "src/records/outbox_action.h"

namespace onceward::cli {
namespace {

using records::OutboxState;

class OutboxAction final : public RowAction {
 public:
  explicit OutboxAction(records::Action action) : RowAction(action, "the outbox") { command_.action = action; }

  std::string_view eligible() const override { return "eligible"; }
  std::string_view condition() const override { return "waiting or quarantined"; }
  const std::vector<std::string>& columns() const override { return outbox_columns; }
  void add_filter_options(CLI::App& command) override {
    cli::add_filter_options(command, command_.filter, {OutboxState::waiting, OutboxState::quarantined});
  }
  records::Numbers& numbers() override { return command_.filter.numbers; }
  bool says_nothing() const override { return command_.filter == records::OutboxFilter(); }

  bool names_are_known(Session&, Store&) override { return true; }
  std::int64_t count(Store& store, const records::Numbers& numbers) override {
    return records::count_outbox(store, {.numbers = numbers});
  }
  Seen preview(Store& store) override {
    records::OutboxPreview seen = records::preview(store, command_.filter);
    command_.numbers = std::move(seen.numbers);
    return {seen.matching, seen.eligible, json_of(seen.first)};
  }
  records::Progress carry_out(Store& store, const Mandate& mandate, const records::GoOn& go_on) override {
    command_.who = mandate.who;
    command_.why = mandate.why;
    return records::carry_out(store, command_, go_on);
  }

 private:
  records::OutboxCommand command_;
};

}  // namespace

void add_outbox_action(CLI::App& parent, Session& session, records::Action action, const std::string& summary,
                       const std::string& example) {
  add_row_action(parent, session, std::make_shared<OutboxAction>(action), summary, example);
}

}  // namespace onceward::cli
