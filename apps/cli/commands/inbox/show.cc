#include <fmt/format.h>

#include "apps/cli/command.h"
#include "apps/cli/commands/inbox/rows.h"
#include "apps/cli/options.h"
#include "apps/cli/payload.h"
#include "apps/cli/stores.h"
#include "src/common/hex.h"

namespace onceward::cli {
namespace {

struct MessageChoice {
  StoreChoice store;
  std::optional<Key> key;
  records::MessageName name;
  bool payload = false;
};

nlohmann::ordered_json record_of(const records::InboxMessage& message) {
  using Json = nlohmann::ordered_json;
  Json record = json_of(message.row);
  record["recorded_at"] = json_of(message.recorded_at);
  record["payload_hash"] = to_hex(message.payload_hash.bytes);
  record["result_bytes"] = message.result_bytes;
  record["original"] = json_of(message.original);
  record["operation"] = message.operation ? Json(message.operation->text) : Json(nullptr);
  record["operation_key"] = message.operation ? Json(to_string(message.operation->key)) : Json(nullptr);
  record["kept_payload_bytes"] = message.kept_bytes ? Json(*message.kept_bytes) : Json(nullptr);
  record["attempts"] = Json::array();
  for (const records::InboxAttempt& attempt : message.attempts) {
    record["attempts"].push_back({{"at", json_of(std::optional(attempt.at))},
                                  {"kind", attempt.kind},
                                  {"code", attempt.code},
                                  {"worker", attempt.worker}});
  }
  record["outgoing"] = Json::array();
  for (const records::StagedMessage& staged : message.outgoing) {
    record["outgoing"].push_back({{"id", staged.id}, {"type", staged.type}});
  }
  record["calls"] = Json::array();
  for (const records::StagedRequest& staged : message.calls) {
    record["calls"].push_back({{"endpoint", staged.endpoint}, {"key", staged.key}, {"type", staged.type}});
  }
  return record;
}

// The key that is meant; nothing where that is not one message, which has been said then.
std::optional<Key> find(Session& session, Store& store, const MessageChoice& choice) {
  if (choice.key) return choice.key;
  if (!consumer_is_known(session, store, choice.name.consumer)) return std::nullopt;
  const auto rows = records::find_messages(store, choice.name);
  if (rows.size() == 1) return rows.front().key;
  if (rows.empty()) {
    fmt::print(stderr, "onceward: {} has received no message with this id\n", choice.name.consumer);
    session.ending = Exit::not_found;
    return std::nullopt;
  }
  std::vector<nlohmann::ordered_json> shown;
  for (const records::InboxRow& row : rows) shown.push_back(json_of(row));
  fmt::print(stderr, "onceward: several messages have this id: say which with --producer, --tenant or a key\n{}",
             table_of(inbox_columns, shown));
  session.ending = Exit::conflict;
  return std::nullopt;
}

void show_message(Session& session, const MessageChoice& choice) {
  if (!choice.key && (choice.name.consumer.empty() || choice.name.id.empty())) {
    throw CLI::ValidationError("inbox show", "name the message: its key, or --consumer and --id");
  }
  const auto store = open_store(choice.store, daemon::StoreUse::reading);
  const auto key = find(session, *store, choice);
  if (!key) return;
  const auto message = records::read_message(*store, *key);
  if (!message) {
    fmt::print(stderr, "onceward: the inbox has no message {}\n", to_string(*key));
    session.ending = Exit::not_found;
    return;
  }
  nlohmann::ordered_json record = record_of(*message);
  if (choice.payload) {
    const auto body = records::read_body(*store, *key);
    if (body) add_body(record, *body);
    if (!body) fmt::print(stderr, "its payload is not kept: only a message that waits or is quarantined keeps it\n");
  }
  print_record(session, record);
}

}  // namespace

void add_inbox_show(CLI::App& parent, Session& session) {
  CLI::App* const command =
      add_command(parent, "show", "Shows what became of one message, by its key or by its consumer and id",
                  "onceward inbox show --consumer payments --id 7f3c --producer checkout");
  auto choice = std::make_shared<MessageChoice>();
  add_store_options(*command, choice->store);
  add_key_option(*command, "key", choice->key, "The message's key, as the list shows it");
  command->add_option("--consumer", choice->name.consumer, "The consumer that received it");
  command->add_option("--id", choice->name.id, "Its id");
  add_text_option(*command, "--producer", choice->name.producer, "Its producer: makes a large inbox quick to search");
  add_text_option(*command, "--tenant", choice->name.tenant, "Its tenant");
  command->add_flag("--payload", choice->payload, "Also its envelope and payload, if they are kept");
  add_output_option(*command, session);
  command->callback([&session, choice] { show_message(session, *choice); });
}

}  // namespace onceward::cli
