// What retry and discard share, whatever the rows are: which of them, who and why, a preview, a question, and the counts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/mandate.h"
#include "apps/cli/stores.h"
#include "src/records/steps.h"

namespace onceward::cli {

struct Seen {
  std::int64_t matching = 0;
  std::int64_t eligible = 0;
  std::vector<nlohmann::ordered_json> first;
};

// Rows of one kind, which of them are meant, and what is to be done to them.
class RowAction {
 public:
  RowAction(records::Action action, std::string_view place) : action_(action), place_(place) {}
  virtual ~RowAction() = default;

  records::Action action() const { return action_; }
  std::string_view place() const { return place_; }  // "the quarantine"

  virtual std::string_view eligible() const = 0;   // the name of the count of those that can be acted on
  virtual std::string_view condition() const = 0;  // what they are
  virtual const std::vector<std::string>& columns() const = 0;
  virtual void add_filter_options(CLI::App& command) = 0;
  virtual records::Numbers& numbers() = 0;
  virtual bool says_nothing() const = 0;

  // Whether what the filter names is there; else says so, and the session ends with "not found".
  virtual bool names_are_known(Session& session, Store& store) = 0;
  // How many rows have these numbers, in any state.
  virtual std::int64_t count(Store& store, const records::Numbers& numbers) = 0;
  // Of what it has seen, and nothing else, carry_out() changes what still can be.
  virtual Seen preview(Store& store) = 0;
  virtual records::Progress carry_out(Store& store, const Mandate& mandate, const records::GoOn& go_on) = 0;

 private:
  const records::Action action_;
  const std::string_view place_;
};

void add_row_action(CLI::App& parent, Session& session, std::shared_ptr<RowAction> action, const std::string& summary,
                    const std::string& example);

}  // namespace onceward::cli
