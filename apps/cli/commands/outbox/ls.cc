#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/outbox/pausing.h"
#include "apps/cli/commands/outbox/rows.h"
#include "apps/cli/options.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

using records::OutboxState;

struct OutboxChoice {
  StoreChoice store;
  records::OutboxFilter filter;
  std::optional<std::int64_t> after;
  int limit = 100;
};

void list(Session& session, const OutboxChoice& choice) {
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  const auto page = records::list_outbox(*store, choice.filter, choice.after, choice.limit);
  print_rows(session, outbox_columns, json_of(page.rows));
  fmt::print(stderr, "{} of {}{}\n", page.rows.size(), counted(*store, choice.filter),
             page.more ? fmt::format("; there are more: --after {}", page.rows.back().number) : "");
  show_pauses(*store);
}

}  // namespace

void add_outbox_ls(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(
      parent, "ls", "Lists messages that have not been published, newest first, and targets that are paused",
      "onceward outbox ls --state quarantined --type payment.");
  auto choice = std::make_shared<OutboxChoice>();
  add_store_options(*command, choice->store);
  add_filter_options(*command, choice->filter,
                     {OutboxState::pending, OutboxState::waiting, OutboxState::behind, OutboxState::quarantined,
                      OutboxState::discarded});
  command->add_option("--after", choice->after, "The next page: behind the row with this number");
  add_limit_option(*command, choice->limit);
  add_output_option(*command, session);
  command->callback([&session, choice] { list(session, *choice); });
}

}  // namespace onceward::cli
