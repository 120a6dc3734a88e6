#include "src/relay/waiting.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/worker/failure.h"

namespace onceward::relay {
namespace {

using records::number_in;
using records::Statement;
using records::text_in;

constexpr std::string_view copied =
    "position, staged_at, consumer, cause, aggregate_version, event_version, id, type, key, tenant, aggregate_type, "
    "aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload";

bool charged(Setback::Why why) { return why == Setback::Why::refused || why == Setback::Why::no_route; }

std::string_view reason_of(Setback::Why why) {
  switch (why) {
    case Setback::Why::refused:
      return "refused";
    case Setback::Why::no_route:
      return "no_route";
    case Setback::Why::behind:
      return "behind";
    case Setback::Why::away:
      return "away";
    case Setback::Why::put_off:
      return "put_off";
  }
  return {};
}

int attempts_after(const Setback& setback) { return setback.attempts + (charged(setback.why) ? 1 : 0); }

std::string due_after(Dialect dialect) {
  return dialect == Dialect::postgres ? "{now} + s.delay * interval '1 millisecond'" : "{now} + s.delay * 1000";
}

constexpr std::string_view stopped_keys =
    "SELECT DISTINCT key FROM {outbox_waiting} WHERE ordered = 1 AND state <> 'discarded' AND ";

}  // namespace

bool Waiting::used_up(const Setback& setback) const {
  return charged(setback.why) && attempts_after(setback) >= budget_.attempts;
}

std::string_view Waiting::state_of(const Setback& setback) const {
  if (used_up(setback)) return "aside";
  return setback.why == Setback::Why::behind ? "behind" : "waiting";
}

// What is put off waits as long again as it has waited.
std::chrono::milliseconds Waiting::delay_of(const Setback& setback) const {
  switch (setback.why) {
    case Setback::Why::refused:
    case Setback::Why::no_route:
      return delay_before(attempts_after(setback), budget_);
    case Setback::Why::behind:
      return {};
    case Setback::Why::away:
      return while_away_;
    case Setback::Why::put_off:
      return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(setback.waited), budget_.first_delay,
                        budget_.longest_delay);
  }
  return {};
}

// The setbacks as a relation.
struct Waiting::Columns {
  Columns(std::span<const Setback> setbacks, const Waiting& waiting) {
    for (const Setback& setback : setbacks) {
      ticks.push_back(setback.tick);
      positions.push_back(setback.position);
      slots.push_back(setback.slot);
      ordered.push_back(setback.ordered ? 1 : 0);
      attempts.push_back(attempts_after(setback));
      delays.push_back(waiting.delay_of(setback).count());
      states.push_back(waiting.state_of(setback));
      targets.push_back(setback.target);
      reasons.push_back(reason_of(setback.why));
      details.push_back(setback.detail);
    }
  }
  void run(UnitOfWork& unit, const Statement& statement) const {
    const Column columns[] = {{"tick", std::span(ticks)},      {"position", std::span(positions)},
                              {"slot", std::span(slots)},      {"attempts", std::span(attempts)},
                              {"delay", std::span(delays)},    {"state", std::span(states)},
                              {"reason", std::span(reasons)},  {"detail", std::span(details)},
                              {"ordered", std::span(ordered)}, {"target", std::span(targets)}};
    unit.whole().execute_over({"setbacks", columns}, statement.text());
  }

  std::vector<std::int64_t> ticks, positions, slots, ordered, attempts, delays;
  std::vector<std::string_view> states, reasons, details, targets;
};

void Waiting::put(UnitOfWork& unit, std::span<const Setback> setbacks) const {
  if (setbacks.empty()) return;
  std::string from_outbox;
  for (std::string_view rest = copied; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    from_outbox += fmt::format("o.{}, ", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  Statement insert(store_.dialect(), "INSERT INTO {outbox_waiting} (");
  insert.add(copied)
      .add(", tick, slot, ordered, target, state, attempts, due_at, reason, detail, entered_at) SELECT ")
      .add(from_outbox);
  insert.add("s.tick, s.slot, s.ordered, s.target, s.state, s.attempts, ").add(due_after(store_.dialect()));
  insert.add(", s.reason, s.detail, {now} FROM setbacks s JOIN {outbox} o ON o.position = s.position WHERE true ");
  insert.add("ON CONFLICT (position) DO NOTHING");
  Columns(setbacks, *this).run(unit, insert);
}

void Waiting::put_again(UnitOfWork& unit, std::span<const Setback> setbacks) const {
  if (setbacks.empty()) return;
  Statement update(
      store_.dialect(),
      "UPDATE {outbox_waiting} AS w SET state = s.state, ordered = s.ordered, target = s.target, attempts = s.attempts, "
      "due_at = ");
  update.add(due_after(store_.dialect())).add(", reason = s.reason, detail = s.detail FROM setbacks s ");
  update.add("WHERE w.position = s.position AND w.state <> 'discarded'");
  Columns(setbacks, *this).run(unit, update);
}

void Waiting::remove(UnitOfWork& unit, std::span<const std::int64_t> positions) const {
  if (positions.empty()) return;
  Statement(store_.dialect(), "DELETE FROM {outbox_waiting} WHERE state <> 'discarded' AND position ")
      .bind_any(positions)
      .run(unit.whole());
}

// One moment for all rows: with a clock that moves on, the one in front may be due only after it was passed by.
std::vector<OutboxRow> Waiting::due(std::span<const int> slots, std::string_view target, int most) const {
  const Timestamp now = std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now());
  Statement select(store_.dialect(), "SELECT ");
  const auto add_now = [&]() -> Statement& {
    return store_.dialect() == Dialect::postgres ? select.add("statement_timestamp()") : select.bind(now);
  };
  select.add(row_columns)
      .add(", o.tick, o.slot, o.attempts, {now_micros} - {micros o.entered_at} FROM {outbox_waiting} o ");
  select.add("WHERE o.target = ").bind(target).add(" AND o.slot ").bind_any(slots);
  select.add(" AND o.state IN ('waiting', 'behind') AND o.due_at <= ");
  add_now().add(" AND (o.state = 'waiting' OR NOT EXISTS (SELECT 1 FROM {outbox_waiting} e WHERE e.key = o.key AND ");
  select.add(
      "e.target = o.target AND e.ordered = 1 AND e.state IN ('waiting', 'aside') AND (e.state = 'aside' OR e.due_at > ");
  add_now().add(" OR (e.tick, e.position) > (o.tick, o.position)))) ORDER BY o.tick, o.position LIMIT ");
  select.bind(std::int64_t{most});
  std::vector<OutboxRow> rows;
  for (Row& row : select.query(*store_.look())) {
    const std::int64_t tick = number_in(row[row_width]);
    const int slot = static_cast<int>(number_in(row[row_width + 1]));
    const int attempts = static_cast<int>(number_in(row[row_width + 2]));
    const std::chrono::microseconds waited(number_in(row[row_width + 3]));
    OutboxRow& read = rows.emplace_back(outbox_row(std::move(row), producer_));
    read.tick = tick;
    read.slot = slot;
    read.attempts = attempts;
    read.waited = waited;
  }
  return rows;
}

std::set<std::string, std::less<>> Waiting::read_texts(const Statement& select) const {
  std::set<std::string, std::less<>> texts;
  for (const Row& row : select.query(*store_.look())) texts.insert(text_in(row[0]));
  return texts;
}

std::set<std::string, std::less<>> Waiting::targets(std::span<const int> slots) const {
  Statement select(store_.dialect(),
                   "SELECT DISTINCT target FROM {outbox_waiting} WHERE state <> 'discarded' AND slot ");
  return read_texts(select.bind_any(slots));
}

std::set<std::string, std::less<>> Waiting::keys(std::span<const int> slots) const {
  Statement select(store_.dialect(), stopped_keys);
  return read_texts(select.add("slot ").bind_any(slots));
}

std::set<std::string, std::less<>> Waiting::keys_among(std::span<const std::string> keys) const {
  if (keys.empty()) return {};
  Statement select(store_.dialect(), stopped_keys);
  return read_texts(select.add("key ").bind_any(keys));
}

}  // namespace onceward::relay
