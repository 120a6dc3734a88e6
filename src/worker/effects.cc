#include "src/worker/effects.h"

#include <algorithm>

namespace onceward {
namespace {

constexpr std::size_t most_chunks = 31;  // a mark before and one after each, and a unit has 32
constexpr int careful_rounds = 8;        // poison rarely comes alone

// Waits until everything that was run is known to have worked.
void confirm(UnitOfWork& unit) { unit.whole().query("SELECT 1"); }

}  // namespace

Ran Effects::run(UnitOfWork& unit, Round& round, Part firsts) {
  if (careful_ > 0) return run_carefully(unit, round, firsts);
  const Ran ran = round.failures() == 0 ? handling_.run(unit, round, firsts)
                                        : handling_.run(unit, round, round.without_failed(unit, firsts));
  if (ran == Ran::again) careful_ = careful_rounds;  // the next of them costs no round of its own
  return ran;
}

void Effects::committed() {
  if (careful_ > 0) --careful_;
}

bool Effects::blame(Round& round, const UnitOfWork& unit, Part firsts, const Failure& failure) {
  const std::size_t known = round.failures();
  if (const auto culprit = unit.culprit(); culprit && *culprit < round.size()) {
    round.remember(static_cast<Index>(*culprit), failure);
  } else if (firsts.size() == 1) {
    round.remember(firsts.front(), failure);
  } else if (careful_ > 0) {
    company_fails_ = true;  // every chunk has worked, and the whole does not
    return round.size() + round.refused().size() > 1;
  }
  const bool learned = round.failures() > known || careful_ == 0;
  careful_ = careful_rounds;
  return learned;
}

// The mark after a chunk says that it has worked, in the same trip that makes the place to come back to from the next.
Ran Effects::run_carefully(UnitOfWork& unit, Round& round, Part firsts) {
  const std::vector<Index> rest = round.without_failed(unit, firsts);
  const std::size_t size = std::max<std::size_t>(1, (rest.size() + most_chunks - 1) / most_chunks);
  unit.mark();
  for (std::size_t at = 0; at < rest.size(); at += size) {
    const Part chunk = Part(rest).subspan(at, std::min(size, rest.size() - at));
    if (run_chunk(unit, round, chunk) == Ran::again) return Ran::again;
  }
  return Ran::all;
}

Ran Effects::run_chunk(UnitOfWork& unit, Round& round, Part chunk) {
  for (;;) {
    const std::vector<Index> rest = round.without_failed(unit, chunk);
    const std::size_t known = round.failures();
    const auto failure = attempt(unit, round, rest, Keep::yes);
    if (!failure) return Ran::all;
    unit.back_to_mark();
    if (round.failures() > known) continue;  // the culprit is known, and is left out from now on
    if (rest.size() == 1) {
      round.remember(rest.front(), *failure);
    } else if (!find_culprits(unit, round, rest)) {
      company_fails_ = true;
      return Ran::again;
    }
  }
}

// Nothing if all of it has worked. A culprit that is known is remembered.
std::optional<Failure> Effects::attempt(UnitOfWork& unit, Round& round, Part part, Keep keep) {
  try {
    if (handling_.run(unit, round, part) == Ran::again) return Failure{};
    keep == Keep::yes ? unit.mark() : confirm(unit);
    return std::nullopt;
  } catch (const Fault& fault) {
    if (is_outage(fault)) throw;
    if (const auto culprit = unit.culprit()) round.remember(static_cast<Index>(*culprit), failure_of(fault));
    return failure_of(fault);
  } catch (const std::exception& thrown) {
    return failure_of(thrown);
  } catch (...) {
    return failure_of_something_thrown();
  }
}

// Tries each half by itself, and undoes it. False if both work: then they fail only in company.
bool Effects::find_culprits(UnitOfWork& unit, Round& round, Part part) {
  bool found = false;
  for (const Part half : {part.first(part.size() / 2), part.subspan(part.size() / 2)}) {
    if (half.empty()) continue;
    const std::size_t known = round.failures();
    const auto failure = attempt(unit, round, half, Keep::no);
    unit.back_to_mark();
    if (!failure) continue;
    if (round.failures() > known) {
      found = true;
    } else if (half.size() == 1) {
      round.remember(half.front(), *failure);
      found = true;
    } else {
      found = find_culprits(unit, round, half) || found;
    }
  }
  return found;
}

}  // namespace onceward
