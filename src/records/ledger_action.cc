#include "src/records/ledger_action.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "src/common/timestamp.h"
#include "src/records/ledger_change.h"
#include "src/records/ledger_rows.h"

namespace onceward::records {
namespace {

// Of the filter's states those of the command; none: all of those.
LedgerFilter eligible(const LedgerCommand& command) {
  LedgerFilter filter = command.filter;
  const std::vector<CallState> possible = states_for(command);
  if (filter.states.empty()) filter.states = possible;
  std::erase_if(filter.states, [&](CallState state) { return std::ranges::find(possible, state) == possible.end(); });
  return filter;
}

std::string json_of(const LedgerCommand& command) {
  const LedgerFilter& filter = command.filter;
  std::string json = "{";
  std::vector<std::string_view> states;
  for (const CallState state : filter.states) states.push_back(name(state));
  add_member(json, "state", fmt::format("{}", fmt::join(states, " ")));
  add_member(json, "endpoint", filter.endpoint);
  add_member(json, "key", filter.key);
  add_member(json, "business_key", filter.business_key);
  if (filter.since) add_member(json, "since", write_timestamp(*filter.since));
  if (filter.until) add_member(json, "until", write_timestamp(*filter.until));
  if (command.sure) add_member(json, "sure", "yes");
  return json + "}";
}

// Of the command's numbers behind `after`.
Numbers pick_calls(Transaction& transaction, Dialect dialect, const LedgerCommand& command, std::int64_t after) {
  const auto end = command.numbers.end();
  for (auto from = std::ranges::upper_bound(command.numbers, after); from != end;) {
    const auto to = from + std::min<std::ptrdiff_t>(command.rows_of_a_step, end - from);
    LedgerFilter these = eligible(command);
    these.numbers = {from, to};
    Statement select(dialect, "SELECT l.number FROM {ledger} l");
    Where where(select);
    add_conditions(where, these);
    select.add(" ORDER BY l.number {lock}");
    if (Numbers found = numbers_in(select.query(transaction)); !found.empty()) return found;
    from = to;
  }
  return {};
}

void change_calls(Transaction& transaction, Dialect dialect, const LedgerCommand& command, const Numbers& numbers) {
  note_decision(transaction, dialect, numbers,
                {.who = command.who, .outcome = name(command.action), .why = command.why, .external_ref = {}});
  Statement update(dialect, "UPDATE {ledger} SET ");
  update.add(command.action == Action::retry ? planned_again : ended_for_good("cancelled"));
  update.add(" WHERE number ").bind_any(numbers).run(transaction);
}

}  // namespace

std::vector<CallState> states_for(const LedgerCommand& command) {
  if (command.action == Action::cancel) return {CallState::planned, CallState::waiting, CallState::approved};
  if (command.sure) return {CallState::failed, CallState::unknown};
  return {CallState::failed};
}

LedgerPreview preview(Store& store, const LedgerCommand& command) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  const Dialect dialect = store.dialect();
  const LedgerFilter these = eligible(command);
  LedgerFilter any = command.filter;
  any.states.clear();
  const auto look = store.look();
  LedgerPreview seen;
  seen.matching = count_rows(*look, dialect, any, all);
  if (command.action == Action::retry && !command.sure) {
    any.states = {CallState::unknown};
    seen.unknown = count_rows(*look, dialect, any, all);
  }
  if (these.states.empty()) return seen;
  seen.eligible = count_rows(*look, dialect, these, all);
  Statement select(dialect, "SELECT l.number FROM {ledger} l");
  Where where(select);
  add_conditions(where, these);
  select.add(" ORDER BY l.number LIMIT ").bind(most_calls_of_a_command);
  seen.numbers = numbers_in(select.query(*look));
  seen.first = read_rows(*look, dialect, these, {.newest_first = false, .limit = 10});
  return seen;
}

std::string wrong_with(const LedgerCommand& command) {
  if (command.action == Action::discard) return "a call is retried or cancelled";
  if (command.action == Action::cancel && command.sure) return "only a retry has to be sure";
  if (!command.numbers.empty() && eligible(command).states.empty()) return "none of these states can be acted on";
  if (!std::ranges::is_sorted(command.numbers)) return "the numbers of a preview rise";
  return wrong_with(command.who, command.why, command.filter.numbers, command.rows_of_a_step);
}

Progress carry_out(Store& store, const LedgerCommand& command, const GoOn& go_on) {
  if (const std::string wrong = wrong_with(command); !wrong.empty()) throw std::invalid_argument(wrong);
  const Dialect dialect = store.dialect();
  const Deed deed{.noun = "ledger",
                  .from = "{ledger}",
                  .number = "number",
                  .action = command.action,
                  .filter = json_of(command),
                  .who = command.who,
                  .why = command.why,
                  .pick = [&](Transaction& transaction,
                              std::int64_t after) { return pick_calls(transaction, dialect, command, after); },
                  .change = [&](Transaction& transaction,
                                const Numbers& numbers) { change_calls(transaction, dialect, command, numbers); }};
  return do_in_steps(store, deed, go_on);
}

}  // namespace onceward::records
