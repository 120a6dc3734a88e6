#include "apps/cli/row_action.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "apps/cli/terminal.h"

namespace onceward::cli {
namespace {

struct ActChoice {
  StoreChoice store;
  Mandate mandate;
  std::shared_ptr<RowAction> action;
  bool all = false;
};

void check(ActChoice& choice) {
  RowAction& action = *choice.action;
  if (action.says_nothing() && !choice.all) {
    throw CLI::ValidationError("which rows", "name their numbers, or filter them, or say --all");
  }
  complete(choice.mandate);
  records::Numbers& numbers = action.numbers();
  if (numbers.size() > records::most_numbers) {
    throw CLI::ValidationError("which rows", fmt::format("more than {} numbers", records::most_numbers));
  }
  const std::set<std::int64_t> distinct(numbers.begin(), numbers.end());
  numbers.assign(distinct.begin(), distinct.end());
}

// A number that is not there is a mistake of whoever typed it: then nothing is done.
bool all_are_there(Session& session, Store& store, RowAction& action) {
  const records::Numbers& numbers = action.numbers();
  if (action.count(store, numbers) == static_cast<std::int64_t>(numbers.size())) return true;
  records::Numbers missing;
  for (const std::int64_t number : numbers) {
    if (action.count(store, {number}) == 0) missing.push_back(number);
  }
  fmt::print(stderr, "onceward: {} has no row {}; nothing was changed\n", action.place(), fmt::join(missing, ", "));
  session.ending = Exit::not_found;
  return false;
}

void show(const Seen& seen, const RowAction& action) {
  fmt::print(stderr, "{} of {} matching row(s) are {} and would be affected by {}:\n", seen.eligible, seen.matching,
             action.condition(), name(action.action()));
  if (seen.eligible > 0) fmt::print(stderr, "{}", table_of(action.columns(), seen.first));
  const auto more = seen.eligible - static_cast<std::int64_t>(seen.first.size());
  if (more > 0) fmt::print(stderr, "... and {} more\n", more);
}

void tell(Session& session, const ActChoice& choice, const Seen& seen, std::int64_t changed) {
  RowAction& action = *choice.action;
  // Of rows that were named, all were meant; of a filter, those that could be acted on when it was shown.
  const bool named = !action.numbers().empty();
  const std::int64_t meant = named ? seen.matching : seen.eligible;
  const std::int64_t skipped =
      choice.mandate.dry_run ? meant - seen.eligible : std::max<std::int64_t>(0, meant - changed);
  const std::string eligible(action.eligible());
  print_rows(session, {"action", "matching", eligible, "changed", "skipped"},
             {{{"action", name(action.action())},
               {"matching", seen.matching},
               {eligible, seen.eligible},
               {"changed", changed},
               {"skipped", skipped}}});
  if (skipped == 0) return;
  fmt::print(stderr, "{} row(s) were skipped: they are not {}, or wait for something else\n", skipped,
             action.condition());
  if (named) session.ending = Exit::conflict;
}

void act(Session& session, ActChoice& choice) {
  check(choice);
  RowAction& action = *choice.action;
  const auto store = open_store(choice.store, daemon::StoreUse::existing);
  if (!action.names_are_known(session, *store)) return;
  if (!action.numbers().empty() && !all_are_there(session, *store, action)) return;
  const Seen seen = action.preview(*store);
  show(seen, action);
  records::Progress progress;
  if (seen.eligible > 0 && !choice.mandate.dry_run) {
    const std::string question = fmt::format("{} {} message(s)?", name(action.action()), seen.eligible);
    if (!allowed(session, choice.mandate, question)) return;
    ProgressBar bar("rows", seen.eligible);
    progress = action.carry_out(*store, choice.mandate, [&](const records::Progress& now) {
      bar.show(now.changed);
      return true;
    });
  }
  tell(session, choice, seen, progress.changed);
}

}  // namespace

void add_row_action(CLI::App& parent, Session& session, std::shared_ptr<RowAction> action, const std::string& summary,
                    const std::string& example) {
  CLI::App* const command = add_command(parent, std::string(name(action->action())), summary, example);
  auto choice = std::make_shared<ActChoice>();
  choice->action = std::move(action);
  add_store_options(*command, choice->store);
  command->add_option("number", choice->action->numbers(), "Rows by their numbers");
  choice->action->add_filter_options(*command);
  command->add_flag("--all", choice->all, fmt::format("Every row that is {}", choice->action->condition()));
  add_mandate_options(*command, choice->mandate);
  add_output_option(*command, session);
  command->callback([&session, choice] { act(session, *choice); });
}

}  // namespace onceward::cli
