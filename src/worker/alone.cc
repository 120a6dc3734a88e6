#include "src/worker/alone.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/worker/tally.h"

namespace onceward {
namespace {

// A message that has ended every worker it was given to.
Failure exhausted(int attempts) {
  return {.code = "attempts_exhausted",
          .detail = fmt::format("its {} attempts are used up, and the last has ended its worker", attempts),
          .permanent = true,
          .by = Failure::By::crash};
}

// One start among others that ended with its worker must leave an innocent message its attempts alone.
constexpr int least_budget_to_share = 3;

}  // namespace

bool Alone::suspects(std::span<const Item> items, Settlements& settlements) {
  std::vector<Item> unknown;
  if (!ask(items, unknown, settlements) || !start_never_begun(unknown)) return false;
  if (declaration_.order != Order::partition) std::ranges::stable_partition(unknown, &Item::counted);
  std::set<Key> done;
  for (auto next = unknown.begin(); next != unknown.end();) {
    const auto end = std::find_if(next, unknown.end(), [](const Item& item) { return !item.counted; });
    const bool went_well = next != end ? applier_.as_declared({next, end}, settlements)
                                       : applier_.passed_over(*next) || by_itself(*next, done, settlements);
    if (!went_well) {
      give_back({next, unknown.end()});
      return false;
    }
    next = next != end ? end : next + 1;
  }
  return true;
}

// Which of them were seen before is asked of all at once, by claiming them and undoing it: nothing is run for those.
bool Alone::ask(std::span<const Item> items, std::vector<Item>& unknown, Settlements& settlements) {
  std::vector<Item> claimed;
  std::vector<Claimant> claimants;
  for (const Item& item : items) {
    auto identified = identity_of(item, declaration_);
    auto* const claimant = std::get_if<Claimant>(&identified);
    (claimant ? claimed : unknown).push_back(item);
    if (claimant) claimants.push_back(std::move(*claimant));
  }
  std::vector<Answer> answers;
  while (answers.empty() && !claimants.empty()) {
    try {
      const auto unit = store_.begin(applier_.consumer());
      unit->claim(claimants);
      const auto known = unit->answers();
      answers.assign(known.begin(), known.end());
      outage_.over();
    } catch (const Fault& fault) {
      if (fault.poisons() == Poisons::process) throw;
      if (!outage_.wait(fault)) return false;
    }
  }
  return take_answers(claimed, claimants, answers, unknown, settlements);
}

// An answer that rests on a message of the same batch was undone with it.
bool Alone::take_answers(std::span<const Item> items, std::span<const Claimant> claimants,
                         std::span<const Answer> answers, std::vector<Item>& unknown, Settlements& settlements) {
  std::set<Key> fresh;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].verdict == Verdict::first) fresh.insert(claimants[i].key);
  }
  applier_.tell_fenced(answers);
  std::vector<const Claimant*> conflicts;
  std::vector<Item> conflicting;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].verdict == Verdict::fenced) {
      bump(tally_.fenced);
      settle(items[i], Settle::redeliver, settlements);
    } else if (answers[i].by_operation || fresh.contains(claimants[i].key)) {
      unknown.push_back(items[i]);
    } else if (answers[i].verdict == Verdict::conflict) {
      bump(tally_.conflict);
      conflicts.push_back(&claimants[i]);
      conflicting.push_back(items[i]);
    } else {
      bump(answers[i].verdict == Verdict::held ? tally_.held : tally_.duplicate);
      settle(items[i], Settle::accept, settlements);
    }
  }
  if (!applier_.park(conflicts)) return false;
  for (const Item& item : conflicting) settle(item, Settle::park, settlements);
  return true;
}

// Those that no worker has begun, as far as anybody knows, have their starts counted at once, and may run together.
bool Alone::start_never_begun(std::vector<Item>& unknown) {
  if (unknown.size() < 2 || declaration_.retry.attempts < least_budget_to_share) return true;
  std::vector<Key> keys;
  std::vector<Item*> asked;
  for (Item& item : unknown) {
    const auto key = key_of(item);
    if (!key || !item.unsure) continue;
    keys.push_back(*key);
    asked.push_back(&item);
  }
  if (keys.empty()) return true;
  std::vector<int> before;
  return applier_.surely([&](UnitOfWork& unit) {
    const std::vector<int> attempts = unit.attempts(keys);
    const bool landed = !before.empty() && attempts != before;
    if (landed) return;  // the starts whose commit was in doubt
    before = attempts;
    std::set<Key> started;  // a message may have come several times
    for (std::size_t i = 0; i < keys.size(); ++i) {
      asked[i]->counted = attempts[i] == 0;
      asked[i]->attempts = 1;
      if (asked[i]->counted && started.insert(keys[i]).second) unit.count(keys[i], Attempt::start, {});
    }
  });
}

std::optional<Key> Alone::key_of(const Item& item) const {
  if (item.kept) return item.kept;
  const auto identified = identity_of(item, declaration_);
  const auto* const claimant = std::get_if<Claimant>(&identified);
  return claimant ? std::optional(claimant->key) : std::nullopt;
}

bool Alone::count_start(Item& item) {
  const auto key = key_of(item);
  if (!key) return true;  // it will be parked, not run
  std::optional<int> before;
  item.counted = applier_.surely([&](UnitOfWork& unit) {
    item.attempts = unit.attempts({&*key, 1}).front();
    if (before && item.attempts > *before) return;  // the start whose commit was in doubt had landed
    before = item.attempts;
    if (item.attempts >= declaration_.retry.attempts) {
      item.failure = std::make_shared<Failure>(exhausted(item.attempts));
    } else {
      ++item.attempts;
      unit.count(*key, Attempt::start, {});
    }
  });
  return item.counted;
}

// Another copy of one that has run here, and is done with, will not be run: it needs no start.
bool Alone::by_itself(Item& item, std::set<Key>& done, Settlements& settlements) {
  const auto key = key_of(item);
  if (!(key && done.contains(*key)) && !count_start(item)) return false;
  if (!run(item, settlements)) return false;
  if (key && !applier_.passed_over(item)) done.insert(*key);
  return true;
}

bool Alone::run(const Item& item, Settlements& settlements) {
  bump(tally_.alone);
  return applier_.together({&item, 1}, settlements);
}

// A stop ended them, and an outage was in the way: the attempts are not the messages'. Tried once; without it a message
// has one attempt less, and nothing worse. What was settled is done, and no longer asks for its attempts.
void Alone::give_back(std::span<const Item> items) {
  try {
    const auto unit = store_.begin(applier_.consumer());
    std::set<Key> given;  // once, however often it has come
    for (const Item& item : items) {
      const auto key = item.counted ? key_of(item) : std::nullopt;
      if (key && given.insert(*key).second) unit->count(*key, Attempt::given_back, {});
    }
    unit->commit();
  } catch (const Fault&) {
  }
}

// Whether the start of `kept`, whose commit was in doubt, is ours, and not to be counted again. What has no key counts its
// attempts where it waits: it waits no longer once it was started.
bool Alone::landed(UnitOfWork& unit, const Kept& kept) const {
  if (kept.key) return unit.attempts({&*kept.key, 1}).front() >= kept.attempts;
  unit.mark();
  const auto again = unit.start_due(lease_for(declaration_));
  unit.back_to_mark();
  return !again || again->quarantine != kept.quarantine;
}

bool Alone::due() {
  std::optional<Kept> kept;
  const auto lease = lease_for(declaration_);
  const auto start = [&](UnitOfWork& unit) {
    if (kept && landed(unit, *kept)) return;
    kept = unit.start_due(lease);
    // The start of a message that has used up its budget: it will not be run.
    if (kept && kept->key && kept->attempts > declaration_.retry.attempts) {
      unit.count(*kept->key, Attempt::given_back, {});
    }
  };
  if (!applier_.surely(start) || !kept) return false;
  Item item{.envelope = &kept->envelope, .kept = kept->key, .quarantine = kept->quarantine};
  item.attempts = kept->attempts;
  item.counted = true;
  if (item.attempts > declaration_.retry.attempts)
    item.failure = std::make_shared<Failure>(exhausted(item.attempts - 1));
  Settlements nobody_waits;
  if (run(item, nobody_waits)) return true;
  give_back({&item, 1});
  return false;
}

}  // namespace onceward
