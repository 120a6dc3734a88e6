#include "apps/cli/commands/outbox/pausing.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/commands/inbox/rows.h"
#include "apps/cli/commands/outbox/rows.h"
#include "apps/cli/mandate.h"
#include "apps/cli/stores.h"
#include "src/records/pause.h"

namespace onceward::cli {
namespace {

struct PausingChoice {
  StoreChoice store;
  Mandate mandate;
  Pausing pausing;
  std::string target;
};

// Whether there is something to do; else says why not.
bool can_be_done(Session& session, Store& store, const PausingChoice& choice) {
  const auto pauses = records::list_pauses(store);
  const bool paused = std::ranges::find(pauses, choice.target, &records::Pause::target) != pauses.end();
  if (paused != choice.pausing.pauses) return true;
  fmt::print(stderr, "onceward: target {} is {} paused; nothing was changed\n", choice.target,
             paused ? "already" : "not");
  show_pauses(store);
  session.ending = paused ? Exit::conflict : Exit::not_found;
  return false;
}

bool change(Store& store, const PausingChoice& choice) {
  const auto call = choice.pausing.pauses ? records::pause_target : records::resume_target;
  return call(store, choice.target, choice.mandate.who, choice.mandate.why);
}

void pause_or_resume(Session& session, PausingChoice& choice) {
  complete(choice.mandate);
  const std::string wrong = records::wrong_with_text("the target", choice.target, records::most_target_bytes);
  if (!wrong.empty()) throw CLI::ValidationError("target", wrong);
  const auto store = open_store(choice.store, daemon::StoreUse::existing);
  if (!can_be_done(session, *store, choice)) return;
  records::OutboxFilter pending;
  pending.states = {records::OutboxState::pending, records::OutboxState::waiting, records::OutboxState::behind};
  fmt::print(stderr, "{} message(s) are pending; of these, and of those to come, what is routed to {} {}\n",
             counted(*store, pending), choice.target,
             choice.pausing.pauses ? "would stay until it is resumed" : "would leave");
  bool changed = false;
  if (!choice.mandate.dry_run) {
    if (!allowed(session, choice.mandate, fmt::format("{} {}?", choice.pausing.verb, choice.target))) return;
    changed = change(*store, choice);
    if (!changed && !can_be_done(session, *store, choice)) return;
  }
  print_rows(session, {"action", "target", "changed"},
             {{{"action", choice.pausing.verb}, {"target", choice.target}, {"changed", changed ? 1 : 0}}});
}

}  // namespace

void add_pausing(CLI::App& parent, Session& session, const Pausing& pausing, const std::string& summary,
                 const std::string& example) {
  CLI::App* const command = add_command(parent, pausing.verb, summary, example);
  auto choice = std::make_shared<PausingChoice>();
  choice->pausing = pausing;
  add_store_options(*command, choice->store);
  command->add_option("target", choice->target, "The target's name, as the application file has it")->required();
  add_mandate_options(*command, choice->mandate);
  add_output_option(*command, session);
  command->callback([&session, choice] { pause_or_resume(session, *choice); });
}

void show_pauses(Store& store) {
  std::vector<nlohmann::ordered_json> rows;
  for (const records::Pause& pause : records::list_pauses(store)) {
    rows.push_back({{"paused", pause.target},
                    {"since", json_of(std::optional(pause.at))},
                    {"who", pause.who},
                    {"why", pause.why}});
  }
  if (!rows.empty()) fmt::print(stderr, "{}", table_of({"paused", "since", "who", "why"}, rows));
}

}  // namespace onceward::cli
