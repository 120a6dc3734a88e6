#include "apps/cli/commands/quarantine/act.h"

#include "apps/cli/commands/quarantine/rows.h"
#include "apps/cli/options.h"
#include "apps/cli/row_action.h"
#include "src/records/action.h"

namespace onceward::cli {
namespace {

class QuarantineAction final : public RowAction {
 public:
  explicit QuarantineAction(records::Action action) : RowAction(action, "the quarantine") { command_.action = action; }

  std::string_view eligible() const override { return "parked"; }
  std::string_view condition() const override { return "parked"; }
  const std::vector<std::string>& columns() const override { return quarantine_columns; }
  void add_filter_options(CLI::App& command) override { cli::add_filter_options(command, command_.filter); }
  records::Numbers& numbers() override { return command_.filter.numbers; }
  bool says_nothing() const override { return command_.filter == records::QuarantineFilter(); }

  bool names_are_known(Session& session, Store& store) override {
    return consumer_is_known(session, store, command_.filter.consumer);
  }
  std::int64_t count(Store& store, const records::Numbers& numbers) override {
    return records::count_quarantine(store, {.numbers = numbers});
  }
  Seen preview(Store& store) override {
    const records::Preview seen = records::preview(store, command_.filter);
    command_.highest = seen.highest;
    return {seen.matching, seen.eligible, json_of(seen.first)};
  }
  records::Progress carry_out(Store& store, const Mandate& mandate, const records::GoOn& go_on) override {
    command_.who = mandate.who;
    command_.why = mandate.why;
    return records::carry_out(store, command_, go_on);
  }

 private:
  records::Command command_;
};

}  // namespace

void add_quarantine_action(CLI::App& parent, Session& session, records::Action action, const std::string& summary,
                           const std::string& example) {
  add_row_action(parent, session, std::make_shared<QuarantineAction>(action), summary, example);
}

}  // namespace onceward::cli
