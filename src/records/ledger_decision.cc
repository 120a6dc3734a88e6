#include "src/records/ledger_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <stdexcept>

#include "src/envelope/derived_id.h"
#include "src/records/audit.h"
#include "src/records/ledger_change.h"
#include "src/records/ledger_rows.h"

namespace onceward::records {
namespace {

std::string plain(std::string_view name) {
  const auto first = name.find_first_not_of(" \t\r\n");
  if (first == name.npos) return {};
  std::string text(name.substr(first, name.find_last_not_of(" \t\r\n") + 1 - first));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// One decision, until it is known what became of it.
class Deciding {
 public:
  struct Plan {
    CallState from;
    std::string_view action;  // as the audit names it: approve
    std::string_view outcome;
    std::string_view external_ref{};
    bool by_another = false;  // than whoever asked for it, or let it go again
    std::function<void(Statement&)> set;
  };

  Deciding(Store& store, const Decision& decision, Plan plan)
      : store_(store), decision_(decision), plan_(std::move(plan)) {
    if (const std::string wrong = wrong_with(decision.who, decision.why); !wrong.empty()) {
      throw std::invalid_argument(wrong);
    }
  }

  Decided run() {
    Decided decided = Decided::yes;
    try_again([&] {
      decided = attempt();
      return true;
    });
    return decided;
  }

 private:
  // A commit that was not answered holds the row until it has ended: once we have it, the audit row is there or will
  // never be.
  Decided attempt() {
    const auto unit = store_.begin({});
    Transaction& transaction = unit->whole();
    const auto row = locked(transaction);
    if (!row) return Decided::no_such_call;
    const std::string detail = detail_of(*row);
    if (row->state != plan_.from) {
      return is_audited(transaction, store_.dialect(), detail) ? Decided::yes : Decided::other_state;
    }
    if (plan_.by_another && (same_person(decision_.who, requester(*row)) || let_it_go(transaction))) {
      return Decided::same_person;
    }
    change(transaction);
    write_audit(transaction, store_.dialect(),
                {decision_.who, decision_.why, fmt::format("ledger.{}", plan_.action),
                 fmt::format("ledger/{}", decision_.number), detail});
    if (unit->commit() == Commit::committed) return Decided::yes;
    throw Fault(FaultCode::lost_race, Poisons::transaction, "it was not committed");
  }

  std::optional<LedgerRow> locked(Transaction& transaction) const {
    Statement lock(store_.dialect(), "SELECT number FROM {ledger} WHERE number = ");
    lock.bind(decision_.number).add(" {lock}").query(transaction);
    Statement select(store_.dialect(), "SELECT ");
    select.add(ledger_columns).add(" FROM ").add(ledger_with_consumers).add(" WHERE l.number = ");
    const Rows rows = select.bind(decision_.number).query(transaction);
    return rows.empty() ? std::nullopt : std::optional(ledger_row(rows[0]));
  }

  // The last who did is, in effect, the one who asks.
  bool let_it_go(Transaction& transaction) const {
    Statement select(
        store_.dialect(),
        "SELECT a.who FROM {ledger_attempt} a JOIN {ledger} l ON l.key = a.key WHERE a.kind = 'person' AND "
        "a.outcome IN ('retry', 'not_done') AND l.number = ");
    select.bind(decision_.number).add(" ORDER BY a.number DESC LIMIT 1");
    const Rows rows = select.query(transaction);
    return !rows.empty() && same_person(decision_.who, text_in(rows[0][0]));
  }

  void change(Transaction& transaction) const {
    note_decision(transaction, store_.dialect(), {decision_.number},
                  {decision_.who, plan_.outcome, decision_.why, plan_.external_ref});
    Statement update(store_.dialect(), "UPDATE {ledger} SET ");
    plan_.set(update);
    update.add(" WHERE number = ").bind(decision_.number).run(transaction);
  }

  std::string detail_of(const LedgerRow& row) const {
    std::string detail = "{";
    add_member(detail, "operation", operation_);
    add_member(detail, "endpoint", row.endpoint);
    add_member(detail, "key", row.key);
    add_member(detail, "from", name(plan_.from));
    add_member(detail, "outcome", plan_.outcome);
    add_member(detail, "requested_by", requester(row));
    add_member(detail, "decided_by", decision_.who);
    add_member(detail, "external_ref", plan_.external_ref);
    return detail + "}";
  }

  Store& store_;
  const Decision& decision_;
  const Plan plan_;
  const std::string operation_ = fresh_id();
};

}  // namespace

bool same_person(std::string_view one, std::string_view other) { return plain(one) == plain(other); }

Decided approve_call(Store& store, const Decision& decision, std::chrono::seconds lifetime) {
  if (lifetime < std::chrono::seconds(1) || lifetime > longest_approval) {
    throw std::invalid_argument("an approval holds for 1 second to 365 days");
  }
  const bool postgres = store.dialect() == Dialect::postgres;
  const std::string until = postgres ? fmt::format("{{now}} + interval '{} seconds'", lifetime.count())
                                     : fmt::format("{{now}} + {}", std::chrono::microseconds(lifetime).count());
  const std::string due = fmt::format("{}({{now}}, coalesce(not_before, {{now}}))", postgres ? "greatest" : "max");
  return Deciding(store, decision,
                  {.from = CallState::waiting,
                   .action = "approve",
                   .outcome = "approved",
                   .by_another = true,
                   .set =
                       [&](Statement& update) {
                         update.add("state = 'approved', code = '', detail = '', approved_until = ").add(until);
                         update.add(", due_at = ").add(due).add(", decided_by = ").bind(decision.who);
                       }})
      .run();
}

Decided refuse_call(Store& store, const Decision& decision) {
  return Deciding(store, decision,
                  {.from = CallState::waiting,
                   .action = "refuse",
                   .outcome = "refused",
                   .set =
                       [&](Statement& update) {
                         update.add(ended_for_good("refused")).add(", decided_by = ").bind(decision.who);
                         update.add(", code = 'refused', detail = ").bind(decision.why);
                       }})
      .run();
}

Decided resolve_call(Store& store, const Decision& decision, Found found, const std::string& external_ref) {
  if (!external_ref.empty()) {
    const std::string wrong = wrong_with_text("the reference", external_ref, most_reference_bytes);
    if (!wrong.empty()) throw std::invalid_argument(wrong);
  }
  const bool done = found == Found::done;
  if (!done && !external_ref.empty()) throw std::invalid_argument("what was not done has no reference");
  return Deciding(store, decision,
                  {.from = CallState::unknown,
                   .action = "reconcile",
                   .outcome = done ? "done" : "not_done",
                   .external_ref = external_ref,
                   .set =
                       [&](Statement& update) {
                         if (!done) return static_cast<void>(update.add(planned_again));
                         update.add(ended_for_good("succeeded")).add(", code = 'resolved', decided_by = ");
                         update.bind(decision.who).add(", detail = ").bind(decision.why);
                         if (!external_ref.empty()) update.add(", external_ref = ").bind(external_ref);
                       }})
      .run();
}

}  // namespace onceward::records
