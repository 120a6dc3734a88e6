#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/ledger/rows.h"
#include "apps/cli/options.h"
#include "apps/cli/stores.h"
#include "src/records/backlogs.h"

namespace onceward::cli {
namespace {

struct LedgerChoice {
  StoreChoice store;
  records::LedgerFilter filter;
  std::optional<std::int64_t> after;
  int limit = 100;
};

std::string how_many(Store& store, const records::LedgerFilter& filter) {
  const std::int64_t count = records::count_ledger(store, filter, records::most_counted);
  return count < records::most_counted ? fmt::format("{}", count)
                                       : fmt::format("more than {}", records::most_counted - 1);
}

void list_calls(Session& session, const LedgerChoice& choice) {
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  const auto page = records::list_ledger(*store, choice.filter, choice.after, choice.limit);
  print_rows(session, ledger_columns, json_of(page.rows));
  fmt::print(stderr, "{} of {}{}\n", page.rows.size(), how_many(*store, choice.filter),
             page.more ? fmt::format("; there are more: --after {}", page.rows.back().number) : "");
}

}  // namespace

void add_ledger_ls(CLI::App& parent, Session& session) {
  using enum records::CallState;
  CLI::App* const command = add_command(parent, "ls", "Lists calls to external systems, newest first",
                                        "onceward ledger ls --state unknown --endpoint gateway");
  auto choice = std::make_shared<LedgerChoice>();
  add_store_options(*command, choice->store);
  add_filter_options(*command, choice->filter,
                     {planned, attempting, succeeded, failed, unknown, waiting, approved, refused, cancelled});
  command->add_option("--after", choice->after, "The next page: behind the row with this number");
  add_limit_option(*command, choice->limit);
  add_output_option(*command, session);
  command->callback([&session, choice] { list_calls(session, *choice); });
}

}  // namespace onceward::cli
