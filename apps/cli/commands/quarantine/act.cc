#include "apps/cli/commands/quarantine/act.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <set>

#include "apps/cli/commands/quarantine/rows.h"
#include "apps/cli/options.h"
#include "apps/cli/stores.h"
#include "apps/cli/terminal.h"

namespace onceward::cli {
namespace {

using records::Preview;

struct ActChoice {
  StoreChoice store;
  records::Command command;
  bool all = false;
  bool dry_run = false;
  bool yes = false;
};

std::string who_am_i() {
  for (const char* name : {"ONCEWARD_USER", "USER"}) {
    if (const char* const value = std::getenv(name); value && *value) return value;
  }
  return {};
}

bool says_nothing(const records::QuarantineFilter& filter) {
  return filter.numbers.empty() && filter.consumer.empty() && filter.reason.empty() && !filter.tenant &&
         filter.producer.empty() && filter.id.empty() && !filter.since && !filter.until;
}

void check(ActChoice& choice) {
  records::Command& command = choice.command;
  if (says_nothing(command.filter) && !choice.all) {
    throw CLI::ValidationError("which rows", "name their numbers, or filter them, or say --all");
  }
  if (command.who.empty()) command.who = who_am_i();
  if (const std::string wrong = wrong_with(command); !wrong.empty()) {
    throw CLI::ValidationError("--who and --why", wrong);
  }
  auto& numbers = command.filter.numbers;
  const std::set<std::int64_t> distinct(numbers.begin(), numbers.end());
  numbers.assign(distinct.begin(), distinct.end());
}

// A number that is not there is a mistake of whoever typed it: then nothing is done.
bool all_are_there(Session& session, Store& store, const records::QuarantineFilter& filter) {
  if (filter.numbers.empty()) return true;
  records::QuarantineFilter named;
  named.numbers = filter.numbers;
  if (records::count_quarantine(store, named) == static_cast<std::int64_t>(filter.numbers.size())) return true;
  std::vector<std::int64_t> missing;
  for (const std::int64_t number : filter.numbers) {
    if (!records::read_parked(store, number)) missing.push_back(number);
  }
  fmt::print(stderr, "onceward: the quarantine has no row {}; nothing was changed\n", fmt::join(missing, ", "));
  session.ending = Exit::not_found;
  return false;
}

void show(const Preview& seen, const ActChoice& choice) {
  fmt::print(stderr, "{} of {} matching row(s) are parked and would be affected by {}:\n", seen.parked, seen.matching,
             name(choice.command.action));
  if (seen.parked > 0) fmt::print(stderr, "{}", table_of(quarantine_columns, json_of(seen.first)));
  const auto more = seen.parked - static_cast<std::int64_t>(seen.first.size());
  if (more > 0) fmt::print(stderr, "... and {} more\n", more);
}

bool allowed(Session& session, const Preview& seen, const ActChoice& choice) {
  if (choice.yes) return true;
  const bool asked = can_ask();
  if (asked && confirmed(fmt::format("{} {} message(s)?", name(choice.command.action), seen.parked))) return true;
  fmt::print(stderr, "onceward: nothing was changed{}\n", asked ? "" : ": without a terminal this needs --yes");
  session.ending = Exit::refused;
  return false;
}

void act(Session& session, ActChoice& choice) {
  check(choice);
  records::Command& command = choice.command;
  const auto store = open_store(choice.store, daemon::StoreUse::existing);
  if (!consumer_is_known(session, *store, command.filter.consumer)) return;
  if (!all_are_there(session, *store, command.filter)) return;
  const Preview seen = records::preview(*store, command.filter);
  show(seen, choice);
  records::Progress progress;
  if (seen.parked > 0 && !choice.dry_run) {
    if (!allowed(session, seen, choice)) return;
    command.highest = seen.highest;
    ProgressBar bar("rows", seen.parked);
    progress = records::carry_out(*store, command, [&](const records::Progress& now) {
      bar.show(now.changed);
      return true;
    });
  }
  // Of rows that were named, all were meant; of a filter, those that were parked when it was shown.
  const std::int64_t meant = command.filter.numbers.empty() ? seen.parked : seen.matching;
  const std::int64_t skipped =
      choice.dry_run ? meant - seen.parked : std::max<std::int64_t>(0, meant - progress.changed);
  print_rows(session, {"action", "matching", "parked", "changed", "skipped"},
             {{{"action", name(command.action)},
               {"matching", seen.matching},
               {"parked", seen.parked},
               {"changed", progress.changed},
               {"skipped", skipped}}});
  if (skipped > 0)
    fmt::print(stderr, "{} row(s) were skipped: they are not parked, or wait for something else\n", skipped);
  if (skipped > 0 && !command.filter.numbers.empty()) session.ending = Exit::conflict;
}

}  // namespace

void add_action(CLI::App& parent, Session& session, records::Action action, const std::string& summary,
                const std::string& example) {
  CLI::App* const command = add_command(parent, std::string(name(action)), summary, example);
  auto choice = std::make_shared<ActChoice>();
  choice->command.action = action;
  add_store_options(*command, choice->store);
  command->add_option("number", choice->command.filter.numbers, "Rows by their numbers");
  add_filter_options(*command, choice->command.filter);
  command->add_flag("--all", choice->all, "Every row that is parked");
  command->add_option("--why,--reason-text", choice->command.why, "Why: kept in the audit")->required();
  command->add_option("--who", choice->command.who, "Who does it: kept in the audit; else ONCEWARD_USER or USER");
  command->add_flag("--dry-run", choice->dry_run, "Only shows what would be affected");
  command->add_flag("--yes", choice->yes, "Does not ask");
  add_output_option(*command, session);
  command->callback([&session, choice] { act(session, *choice); });
}

}  // namespace onceward::cli
