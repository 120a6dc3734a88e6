#include "src/worker/alone.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

}  // namespace

bool Alone::suspects(std::span<const Item> items, Settlements& settlements) {
  std::vector<Item> unknown;
  if (!ask(items, unknown, settlements)) return false;
  return std::ranges::all_of(unknown, [&](Item& item) { return count_start(item) && run(item, settlements); });
}

// Which of them were seen before is asked of all at once, by claiming them and undoing it: nothing is run for those.
bool Alone::ask(std::span<const Item> items, std::vector<Item>& unknown, Settlements& settlements) {
  std::vector<Item> claimed;
  std::vector<Claimant> claimants;
  for (const Item& item : items) {
    auto identified = identify(*item.envelope, declaration_);
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
  std::vector<const Claimant*> conflicts;
  std::vector<Item> conflicting;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].by_operation || fresh.contains(claimants[i].key)) {
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

bool Alone::count_start(Item& item) {
  const auto identified = identify(*item.envelope, declaration_);
  const auto* const claimant = std::get_if<Claimant>(&identified);
  if (claimant == nullptr) return true;  // it will be parked, not run
  item.counted = true;
  std::optional<int> before;
  return applier_.surely([&](UnitOfWork& unit) {
    item.attempts = unit.attempts({&claimant->key, 1}).front();
    if (before && item.attempts > *before) return;  // the start whose commit was in doubt had landed
    before = item.attempts;
    if (item.attempts >= declaration_.retry.attempts) {
      item.failure = std::make_shared<Failure>(exhausted(item.attempts));
    } else {
      ++item.attempts;
      unit.count(claimant->key, Attempt::start, {});
    }
  });
}

bool Alone::run(Item& item, Settlements& settlements) {
  bump(tally_.alone);
  if (applier_.together({&item, 1}, settlements)) return true;
  give_back(item);
  return false;
}

// A stop ended it, and an outage was in the way: the attempt is not the message's. Tried once; without it the message has
// one attempt less, and nothing worse.
void Alone::give_back(const Item& item) {
  const auto identified = identify(*item.envelope, declaration_);
  const auto* const claimant = std::get_if<Claimant>(&identified);
  if (claimant == nullptr) return;
  try {
    const auto unit = store_.begin(applier_.consumer());
    unit->count(item.kept.value_or(claimant->key), Attempt::given_back, {});
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
  return run(item, nobody_waits);
}

}  // namespace onceward
