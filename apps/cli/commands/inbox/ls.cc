#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/inbox/rows.h"
#include "apps/cli/options.h"
#include "apps/cli/stores.h"

namespace onceward::cli {
namespace {

struct InboxChoice {
  StoreChoice store;
  records::InboxFilter filter;
  std::optional<Key> after;
  int limit = 100;
};

void list(Session& session, const InboxChoice& choice) {
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  if (!consumer_is_known(session, *store, choice.filter.consumer)) return;
  const auto page = records::list_inbox(*store, choice.filter, choice.after, choice.limit);
  if (!page) {
    fmt::print(stderr, "onceward: the inbox has no message {} to go on from\n", to_string(*choice.after));
    session.ending = Exit::not_found;
    return;
  }
  std::vector<nlohmann::ordered_json> rows;
  for (const records::InboxRow& row : page->rows) rows.push_back(json_of(row));
  print_rows(session, inbox_columns, rows);
  if (page->more) fmt::print(stderr, "there are more: --after {}\n", to_string(page->rows.back().key));
}

}  // namespace

void add_inbox_ls(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(parent, "ls", "Lists messages that were received, newest first",
                                        "onceward inbox ls --consumer payments --state retryable_failed --since 2h");
  auto choice = std::make_shared<InboxChoice>();
  records::InboxFilter& filter = choice->filter;
  add_store_options(*command, choice->store);
  command->add_option("--consumer", filter.consumer, "Only of this consumer");
  command->add_option_function<std::string>(
      "--state",
      [choice](const std::string& text) {
        choice->filter.state = state_named(text);
        if (!choice->filter.state) {
          throw CLI::ValidationError("--state",
                                     "is one of received, claimed, processed, duplicate, retryable_failed, "
                                     "quarantined, ignored, superseded, rejected, waiting_gap");
        }
      },
      "Only in this state, e.g. processed, retryable_failed, quarantined");
  add_text_option(*command, "--tenant", filter.tenant, "Only of this tenant; \"\" for none");
  command->add_option("--producer", filter.producer, "Only of this producer");
  command->add_option("--id", filter.id, "Only with this message id");
  add_key_option(*command, "--key", filter.key, "Only the message with this key");
  add_time_option(*command, "--since", filter.since, "Received then or later");
  add_time_option(*command, "--until", filter.until, "Received before");
  add_key_option(*command, "--after", choice->after, "The next page: behind the message with this key");
  add_limit_option(*command, choice->limit);
  add_output_option(*command, session);
  command->callback([&session, choice] { list(session, *choice); });
}

}  // namespace onceward::cli
