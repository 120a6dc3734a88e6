#include "src/worker/applier.h"

#include <algorithm>

#include "src/worker/tally.h"

namespace onceward {

Applier::Applier(const Declaration& declaration, Handling& handling, Store& store, Outage& outage, ConsumerTally& tally,
                 Log& log, Committed committed)
    : declaration_(declaration),
      store_(store),
      outage_(outage),
      tally_(tally),
      log_(log),
      consumer_(store.enroll(declaration)),
      committed_(std::move(committed)),
      effects_(handling),
      pace_(declaration.batch, handling.one_by_one() || declaration.transaction == TransactionScope::each
                                   ? declaration.time_bound / 2
                                   : Pace::Clock::duration::max()),
      round_(declaration.retry, declaration.order == Order::partition) {}

bool Applier::each(std::span<const Item> items, Settlements& settlements) {
  const Pace::Run timed(pace_, items.size());
  return std::ranges::all_of(items, [&](const Item& item) { return together({&item, 1}, settlements); });
}

bool Applier::as_declared(std::span<const Item> items, Settlements& settlements) {
  return declaration_.transaction == TransactionScope::each ? each(items, settlements) : together(items, settlements);
}

bool Applier::together(std::span<const Item> items, Settlements& settlements) {
  while (!items.empty()) {
    const auto next = items.first(std::min(items.size(), pace_.most()));
    if (!in_one(next, settlements)) return false;
    committed_(settlements);
    items = items.subspan(next.size());
  }
  return true;
}

bool Applier::passed_over(const Item& item) const {
  return item.tag && std::ranges::any_of(put_off_, [&](const PutOff& first) {
           return first.partition == item.partition && first.tag <= *item.tag;
         });
}

std::vector<Item> Applier::in_turn(std::span<const Item> items) const {
  std::vector<Item> rest;
  std::ranges::copy_if(items, std::back_inserter(rest), [&](const Item& item) { return !passed_over(item); });
  return rest;
}

bool Applier::in_one(std::span<const Item> items, Settlements& settlements) {
  std::vector<Item> rest;
  if (!put_off_.empty()) items = rest = in_turn(items);
  admit(items);
  if (round_.empty()) return true;
  while (!outage_.given_up()) {
    switch (try_round(settlements)) {
      case Tried::committed: {
        std::vector<const Claimant*> conflicts;
        for (const Index index : conflicts_) conflicts.push_back(&round_.claimants()[index]);
        if (!park(conflicts)) return false;
        for (const Index index : conflicts_) settle(round_.item(index), Settle::park, settlements);
        return true;
      }
      case Tried::stopped:
        return false;
      case Tried::again:
        bump(tally_.reruns);
        if (!round_.put_off().empty()) return without_put_off(items, settlements);
        if (effects_.company_fails() && items.size() > 1) return each(items, settlements);
        if (items.size() > pace_.most()) return together(items, settlements);
    }
  }
  return false;
}

// Their failures are counted by themselves, since nothing else of them is kept; then the others run without them.
bool Applier::without_put_off(std::span<const Item> items, Settlements& settlements) {
  const bool counted = surely([&](UnitOfWork& unit) {
    for (const auto& [index, after] : round_.put_off()) {
      if (!round_.item(index).counted) {
        unit.count(round_.claimants()[index].key, Attempt::failure, round_.failure(index).code);
      }
    }
  });
  if (!counted) return false;
  for (const auto& [index, after] : round_.put_off()) {
    const Item& item = round_.item(index);
    put_off_.push_back({*item.tag, item.partition, after, round_.attempts(index)});
    count_put_off(tally_, round_, index);
  }
  return in_one(items, settlements);
}

bool Applier::due(std::size_t most) {
  std::vector<Kept> kept;
  const auto lease = lease_for(declaration_);
  if (!surely([&](UnitOfWork& unit) { kept = unit.take_due(most, lease); }) || kept.empty()) return false;
  std::vector<Item> items;
  for (const Kept& message : kept) {
    items.push_back({.envelope = &message.envelope, .kept = message.key, .attempts = message.attempts});
  }
  Settlements nobody_waits;
  return as_declared(items, nobody_waits);
}

void Applier::admit(std::span<const Item> items) {
  round_.clear();
  for (const Item& item : items) {
    auto identified = identity_of(item, declaration_);
    if (auto* const claimant = std::get_if<Claimant>(&identified)) {
      if (item.kept) claimant->key = *item.kept;  // as the store knows it, whatever the declaration says now
      round_.add(item, std::move(*claimant));
    } else if (item.kept) {
      add_refused_since(item, std::get<Refusal>(identified));
    } else {
      round_.add(item, std::move(std::get<Refusal>(identified)));
    }
  }
  effects_.begin(round_);
}

// A kept message that the declaration of today refuses has its row, and ends there.
void Applier::add_refused_since(Item item, const Refusal& refusal) {
  item.failure = failure_of(refusal);
  Claimant claimant;
  claimant.key = *item.kept;
  claimant.tenant = item.envelope->tenant();
  claimant.producer = item.envelope->producer();
  claimant.id = IdText(item.envelope->message_id().text());
  claimant.envelope = item.envelope;
  round_.add(item, std::move(claimant));
}

// The whole promise on one screen: what the handler does, that the message was seen, and what is to leave commit as one,
// and nothing is settled before.
Applier::Tried Applier::try_round(Settlements& settlements) {
  std::unique_ptr<UnitOfWork> unit;
  std::optional<Failure> failure;
  Laps laps;
  try {
    round_.begin_try();
    unit = store_.begin(consumer_);
    enter(*unit);
    laps.claimed();
    if (run_effects(*unit) == Ran::again || !round_.put_off().empty()) return Tried::again;
    laps.handled();
    switch (unit->commit()) {
      case Commit::committed:
        conclude(*unit, settlements);
        laps.committed(tally_);
        return Tried::committed;
      case Commit::in_doubt:  // needs no repair: claiming again says duplicate if it landed, first if not
        bump(tally_.in_doubt);
        unit.reset();
        return wait(not_committed(Commit::in_doubt));
      case Commit::failed:
        failure = failure_of(not_committed(Commit::failed));
    }
  } catch (const Fault& fault) {
    if (fault.poisons() == Poisons::process) throw;
    if (!unit || is_outage(fault)) {
      unit.reset();  // nobody is to wait for what it holds
      return wait(fault);
    }
    failure = failure_of(fault);
  } catch (const std::exception& thrown) {
    if (!unit) throw;
    failure = failure_of(thrown);
  } catch (...) {
    if (!unit) throw;
    failure = failure_of_something_thrown();
  }
  if (effects_.blame(round_, *unit, firsts_, *failure)) return Tried::again;
  // A message that cannot even be recorded as failed: nothing may be lost, so everything waits, visibly.
  unit.reset();
  return wait(
      Fault(FaultCode::statement_failed, Poisons::transaction, "the store refuses our own rows: " + failure->detail));
}

Ran Applier::run_effects(UnitOfWork& unit) {
  const Pace::Run timed(pace_, firsts_.size());
  return effects_.run(unit, round_, firsts_);
}

void Applier::enter(UnitOfWork& unit) {
  firsts_.clear();
  for (const Refused& refused : round_.refused()) {
    if (refused.item.quarantine != 0) unit.resolve(refused.item.quarantine);
    unit.park(*refused.item.envelope, code(refused.refusal.reason), refused.refusal.detail);
  }
  if (round_.size() == 0) return;
  const bool kept = round_.item(0).kept.has_value();  // all of them, or none
  kept ? unit.resume(round_.claimants()) : unit.claim(round_.claimants());
  for (Index index = 0; index < round_.size(); ++index) {
    if (unit.first(index)) firsts_.push_back(index);
    if (round_.item(index).quarantine != 0) unit.resolve(round_.item(index).quarantine);
  }
}

void Applier::conclude(UnitOfWork& unit, Settlements& settlements) {
  outage_.over();
  effects_.committed();
  conflicts_.clear();
  bump(tally_.refused, round_.refused().size());
  for (const Refused& refused : round_.refused()) settle(refused.item, Settle::park, settlements);
  if (!unit.claimed()) return;
  const std::span<const Answer> answers = unit.answers();
  count_answers(tally_, round_, answers);
  count_outcomes(tally_, round_, firsts_);
  tell_fenced(answers);
  if (const auto soonest = round_.soonest_retry()) {
    const auto due = std::chrono::steady_clock::now() + *soonest;
    next_retry_ = std::min(due, next_retry_.value_or(due));
  }
  for (Index index = 0; index < answers.size(); ++index) {
    // A conflict is found when its transaction has ended; it is parked in the next one.
    const bool parked_already = answers[index].by_operation;
    if (answers[index].verdict == Verdict::conflict && !parked_already) {
      conflicts_.push_back(index);
    } else {
      settle(round_.item(index), settled(index, answers[index]), settlements);
    }
  }
}

Settle Applier::settled(Index index, const Answer& answer) const {
  const State* const state = round_.decided(index);
  const bool quarantined = state != nullptr && *state == State::quarantined;
  if (answer.verdict == Verdict::fenced) return Settle::redeliver;
  return answer.verdict == Verdict::conflict || quarantined ? Settle::park : Settle::accept;
}

void Applier::tell_fenced(std::span<const Answer> answers) {
  const auto fenced = std::ranges::count(answers, Verdict::fenced, &Answer::verdict);
  if (fenced == 0) return;
  const LogField fields[] = {{"consumer", declaration_.name}, {"messages", std::int64_t{fenced}}};
  log_.write(
      LogLevel::warn,
      "somebody else has taken over where these messages come from, or the store has lost what came before them: they "
      "are dropped, and come again",
      fields);
}

bool Applier::park(std::span<const Claimant* const> conflicts) {
  if (conflicts.empty()) return true;
  const bool committed = surely([&](UnitOfWork& unit) {
    for (const Claimant* const conflict : conflicts) {
      unit.park(*conflict, "conflict", "its identity was seen before with other content");
    }
  });
  if (!committed) return false;
  for (const Claimant* const conflict : conflicts) {
    const LogField fields[] = {{"consumer", declaration_.name},
                               {"messageId", conflict->id.text()},
                               {"producer", conflict->producer.text()},
                               {"dedupDecision", "conflict"}};
    log_.write(LogLevel::error, "an id with other content than before: parked", fields);
  }
  return true;
}

}  // namespace onceward
