#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/quarantine/rows.h"
#include "apps/cli/options.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

struct QuarantineChoice {
  StoreChoice store;
  records::QuarantineFilter filter;
  std::optional<std::int64_t> after;
  int limit = 100;
};

void list(Session& session, const QuarantineChoice& choice) {
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  if (!consumer_is_known(session, *store, choice.filter.consumer)) return;
  const auto page = records::list_quarantine(*store, choice.filter, choice.after, choice.limit);
  print_rows(session, quarantine_columns, json_of(page.rows));
  fmt::print(stderr, "{} of {}", page.rows.size(), records::count_quarantine(*store, choice.filter));
  fmt::print(stderr, "{}\n", page.more ? fmt::format("; there are more: --after {}", page.rows.back().number) : "");
}

}  // namespace

void add_quarantine_ls(CLI::App& parent, Session& session) {
  CLI::App* const command =
      add_command(parent, "ls", "Lists messages that were refused or ran out of attempts, newest first",
                  "onceward quarantine ls --consumer payments --state parked");
  auto choice = std::make_shared<QuarantineChoice>();
  add_store_options(*command, choice->store);
  add_filter_options(*command, choice->filter);
  command->add_option_function<std::string>(
      "--state",
      [choice](const std::string& text) {
        choice->filter.state = records::quarantine_state_named(text);
        if (!choice->filter.state) {
          throw CLI::ValidationError("--state", "is one of parked, retrying, resolved, discarded");
        }
      },
      "Only in this state: parked, retrying, resolved or discarded");
  command->add_option("--after", choice->after, "The next page: behind the row with this number");
  add_limit_option(*command, choice->limit);
  add_output_option(*command, session);
  command->callback([&session, choice] { list(session, *choice); });
}

}  // namespace onceward::cli
