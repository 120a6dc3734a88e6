#include "apps/cli/commands/ledger/decide.h"

#include <fmt/format.h>

#include "apps/cli/commands/ledger/rows.h"

namespace onceward::cli {
namespace {

void no_such_call(Session& session, std::int64_t number) {
  fmt::print(stderr, "onceward: the ledger has no row {}; nothing was changed\n", number);
  session.ending = Exit::not_found;
}

void other_state(Session& session, const records::LedgerRow& row, records::CallState wanted) {
  fmt::print(stderr, "onceward: call {} is {}, not {}; nothing was changed\n", row.number, name(row.state),
             name(wanted));
  session.ending = Exit::conflict;
}

void tell(Session& session, const DecisionKind& kind, const records::LedgerRow& row, bool changed) {
  print_rows(session, {"action", "number", "state", "changed"},
             {{{"action", kind.verb}, {"number", row.number}, {"state", name(row.state)}, {"changed", changed}}});
}

void end_as(Session& session, const DecisionKind& kind, Store& store, std::int64_t number, records::Decided decided) {
  const auto call = records::read_call(store, number);
  if (!call || decided == records::Decided::no_such_call) return no_such_call(session, number);
  if (decided == records::Decided::other_state) return other_state(session, call->row, kind.from);
  if (decided == records::Decided::same_person) {
    fmt::print(stderr, "onceward: {} asked for call {}; whoever asked for it, or let it go again, cannot approve it\n",
               records::requester(call->row), number);
    session.ending = Exit::refused;
    return;
  }
  tell(session, kind, call->row, true);
}

}  // namespace

void decide(Session& session, DecisionChoice& choice, const DecisionKind& kind) {
  complete(choice.mandate);
  const auto store = open_store(choice.store, daemon::StoreUse::existing);
  const auto call = records::read_call(*store, choice.number);
  if (!call) return no_such_call(session, choice.number);
  fmt::print(stderr, "{}", table_of(ledger_columns, {json_of(call->row)}));
  if (call->row.state != kind.from) return other_state(session, call->row, kind.from);
  if (choice.mandate.dry_run) return tell(session, kind, call->row, false);
  const std::string question = fmt::format("{} call {} to {} under {}, which {} asked for?", kind.verb, choice.number,
                                           call->row.endpoint, call->row.key, records::requester(call->row));
  if (!allowed(session, choice.mandate, question)) return;
  end_as(session, kind, *store, choice.number,
         kind.decide(*store, {choice.number, choice.mandate.who, choice.mandate.why}));
}

}  // namespace onceward::cli
