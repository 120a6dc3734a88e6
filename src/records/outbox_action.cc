#include "src/records/outbox_action.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "src/common/timestamp.h"
#include "src/records/outbox_rows.h"

namespace onceward::records {
namespace {

bool can_be_acted_on(OutboxState state) { return state == OutboxState::waiting || state == OutboxState::quarantined; }

OutboxFilter eligible(OutboxFilter filter) {
  if (filter.states.empty()) filter.states = {OutboxState::waiting, OutboxState::quarantined};
  return filter;
}

std::string json_of(const OutboxFilter& filter) {
  std::string json = "{";
  std::vector<std::string_view> states;
  for (const OutboxState state : filter.states) states.push_back(name(state));
  add_member(json, "state", fmt::format("{}", fmt::join(states, " ")));
  add_member(json, "type", filter.type);
  add_member(json, "key", filter.key.value_or(std::string()));
  add_member(json, "id", filter.id);
  if (filter.since) add_member(json, "since", write_timestamp(*filter.since));
  if (filter.until) add_member(json, "until", write_timestamp(*filter.until));
  return json + "}";
}

// Of the command's numbers behind `after`.
Numbers pick(Transaction& transaction, Dialect dialect, const OutboxCommand& command, std::int64_t after) {
  const auto end = command.numbers.end();
  for (auto from = std::ranges::upper_bound(command.numbers, after); from != end;) {
    const auto to = from + std::min<std::ptrdiff_t>(command.rows_of_a_step, end - from);
    OutboxFilter these = eligible(command.filter);
    these.numbers = {from, to};
    Statement select(dialect, "SELECT o.position FROM ");
    select.add(waiting_outbox);
    Where where(select);
    add_waiting_conditions(where, these);
    select.add(" ORDER BY o.position {lock}");
    if (Numbers found = numbers_in(select.query(transaction)); !found.empty()) return found;
    from = to;
  }
  return {};
}

void change(Transaction& transaction, Dialect dialect, Action action, const Numbers& numbers) {
  Statement update(dialect, "UPDATE {outbox_waiting} SET ");
  update.add(action == Action::retry ? "state = 'waiting', attempts = 0, due_at = {now}" : "state = 'discarded'");
  update.add(" WHERE position ").bind_any(numbers).run(transaction);
}

}  // namespace

OutboxPreview preview(Store& store, const OutboxFilter& filter) {
  const Dialect dialect = store.dialect();
  const OutboxFilter these = eligible(filter);
  OutboxFilter any = filter;
  any.states.clear();
  const auto look = store.look();
  OutboxPreview seen;
  seen.matching = count_rows(*look, dialect, any, std::numeric_limits<std::int64_t>::max());
  seen.eligible = count_rows(*look, dialect, these, std::numeric_limits<std::int64_t>::max());
  Statement select(dialect, "SELECT o.position FROM ");
  select.add(waiting_outbox);
  Where where(select);
  add_waiting_conditions(where, these);
  select.add(" ORDER BY o.position LIMIT ").bind(most_rows_of_a_command);
  seen.numbers = numbers_in(select.query(*look));
  seen.first = read_rows(*look, dialect, these, {.newest_first = false, .limit = 10});
  return seen;
}

std::string wrong_with(const OutboxCommand& command) {
  if (!std::ranges::all_of(command.filter.states, can_be_acted_on)) return "only what waits or is quarantined can be";
  if (!std::ranges::is_sorted(command.numbers)) return "the numbers of a preview rise";
  return wrong_with(command.who, command.why, command.filter.numbers, command.rows_of_a_step);
}

Progress carry_out(Store& store, const OutboxCommand& command, const GoOn& go_on) {
  if (const std::string wrong = wrong_with(command); !wrong.empty()) throw std::invalid_argument(wrong);
  const Dialect dialect = store.dialect();
  const Deed deed{
      .noun = "outbox",
      .from = "{outbox_waiting}",
      .number = "position",
      .action = command.action,
      .filter = json_of(command.filter),
      .who = command.who,
      .why = command.why,
      .pick = [&](Transaction& transaction, std::int64_t after) { return pick(transaction, dialect, command, after); },
      .change = [&](Transaction& transaction,
                    const Numbers& numbers) { change(transaction, dialect, command.action, numbers); }};
  return do_in_steps(store, deed, go_on);
}

}  // namespace onceward::records
