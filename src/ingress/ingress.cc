// One request from its reservation to its answer. Two units: the first commits the reservation, so that whoever comes meanwhile
// is told; the second has the effect, the answer and the end of the reservation.
#include "onceward/ingress.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "onceward/port/transact.h"
#include "src/ingress/problem.h"
#include "src/ingress/request.h"
#include "src/ingress/reservation.h"

namespace onceward {
namespace {

using ingress::answer_of;
using ingress::Found;
using ingress::is_printable;
using ingress::most_name_bytes;
using ingress::Problem;
using ingress::Reservation;
using std::chrono::seconds;

constexpr RetryLimit retry_limit{.attempts = 4};
constexpr seconds outage_pause{2};  // before somebody who met an outage is asked to come again
// The same for one who came too early: most requests end long before their lease does, which only a crash lets pass.
constexpr seconds longest_early_pause{2};

// One that can be given as it is, now and again.
bool can_be_given(const IngressAnswer& answer, const IngressOptions& options) {
  return answer.status >= 200 && answer.status < 600 && answer.body.size() <= options.most_answer_bytes &&
         answer.content_type.size() <= most_name_bytes && is_printable(answer.content_type);
}

// Of a request's own statements; the rest is the store's, or that of another system that the handler needs.
bool is_of_the_request(const Fault& fault) {
  switch (fault.fault()) {
    case FaultCode::statement_failed:
    case FaultCode::constraint_violated:
    case FaultCode::fact_exists:
    case FaultCode::call_conflict:
    case FaultCode::transaction_failed:
      return true;
    default:
      return false;
  }
}

seconds pause_of_one_too_early(std::chrono::microseconds left) {
  return std::clamp(std::chrono::ceil<seconds>(left), seconds(1), longest_early_pause);
}

// How an attempt to carry it out has ended. All but the first have left nothing; in doubt, nobody knows.
enum class Ended : std::uint8_t { committed, in_doubt, lost_race, fenced, failed, away };

class Visit {
 public:
  Visit(Store& store, const IngressRequest& request, const IngressOptions& options, const IngressHandler& handler)
      : store_(store),
        request_(request),
        options_(options),
        handler_(handler),
        reservation_(store.dialect(), request, options) {}

  // Throws Fault.
  Found reserve() {
    for (int attempt = 1;; ++attempt) {
      try {
        if (auto found = try_to_reserve(attempt == 1)) return *std::move(found);
        if (attempt >= retry_limit.attempts) throw not_committed(Commit::in_doubt);
      } catch (const Fault& fault) {
        const bool passes = fault.fault() == FaultCode::lost_race || fault.fault() == FaultCode::store_unavailable;
        if (!passes || fault.poisons() == Poisons::process || attempt >= retry_limit.attempts) throw;
      }
      pause_before(retry_limit, attempt);
    }
  }

  Ended carry_out() {
    for (int attempt = 1;; ++attempt) {
      Ended ended = try_it();
      if (ended == Ended::in_doubt) ended = settle_doubt();
      if (ended != Ended::lost_race) return ended;
      if (attempt >= retry_limit.attempts) return Ended::away;
      pause_before(retry_limit, attempt);
    }
  }

  // The key is free; or it is left to the same request, where something may have been done. False where the store could not do
  // it: then its lease ends. Throws what poisons the process.
  bool let_go(Ended ended) {
    try {
      const auto unit = store_.begin({});
      if (ended == Ended::failed) {
        reservation_.forget(unit->whole());
      } else {
        reservation_.end_lease(unit->whole());
      }
      return unit->commit() == Commit::committed;
    } catch (const Fault& fault) {
      if (fault.poisons() == Poisons::process) throw;
      return false;
    }
  }

  IngressAnswer& answer() { return answer_; }

 private:
  // A repeat, or one who comes too early, waits for no writer. Nothing: a commit that failed or is in doubt, and taking it again
  // says which.
  std::optional<Found> try_to_reserve(bool first) {
    if (first) {
      if (auto found = reservation_.look(*store_.look())) return found;
    }
    const auto unit = store_.begin({});
    Found found = reservation_.take(unit->whole());
    if (found.state == Found::State::ours && unit->commit() != Commit::committed) return std::nullopt;
    return found;
  }

  Ended try_it() {
    try {
      const auto unit = store_.begin({});
      answer_ = handler_(request_, unit->whole());
      answer_.repeated = false;
      if (!can_be_given(answer_, options_)) answer_ = answer_of(Problem::answer_refused);
      if (answer_.status >= 500 || !answer_.keep) return Ended::failed;
      if (!reservation_.complete(unit->whole(), answer_)) return Ended::fenced;
      switch (unit->commit()) {
        case Commit::committed:
          return Ended::committed;
        case Commit::in_doubt:
          return Ended::in_doubt;
        case Commit::failed:
          return Ended::away;
      }
      return Ended::away;
    } catch (const Fault& fault) {
      if (fault.poisons() == Poisons::process) throw;
      answer_ = answer_of(Problem::handler_failed);
      if (fault.fault() == FaultCode::lost_race) return Ended::lost_race;
      return is_of_the_request(fault) ? Ended::failed : Ended::away;
    } catch (...) {
      answer_ = answer_of(Problem::handler_failed);
      return Ended::failed;
    }
  }

  Ended settle_doubt() {
    for (int attempt = 1; attempt < retry_limit.attempts; ++attempt) {
      pause_before(retry_limit, attempt);
      try {
        const auto unit = store_.begin({});
        switch (reservation_.held(unit->whole())) {
          case Reservation::Held::completed:
            return Ended::committed;
          case Reservation::Held::reserved:
            return Ended::lost_race;
          case Reservation::Held::lost:
            return Ended::fenced;
        }
      } catch (const Fault& fault) {
        if (fault.poisons() == Poisons::process) throw;
      }
    }
    return Ended::away;
  }

  Store& store_;
  const IngressRequest& request_;
  const IngressOptions& options_;
  const IngressHandler& handler_;
  const Reservation reservation_;
  IngressAnswer answer_;
};

IngressAnswer counted(IngressTally::Count& count, IngressAnswer answer) {
  count.fetch_add(1, std::memory_order_relaxed);
  return answer;
}

// Of one that is ours.
IngressAnswer carry_out(Visit& visit, IngressTally& tally) {
  Ended ended = visit.carry_out();
  if (ended == Ended::failed || ended == Ended::away) {
    if (!visit.let_go(ended)) ended = Ended::away;
  }
  switch (ended) {
    case Ended::committed:
      return counted(tally.accepted, std::move(visit.answer()));
    case Ended::fenced:
      return counted(tally.in_flight, answer_of(Problem::request_in_flight, seconds(1)));
    case Ended::failed:
      return counted(visit.answer().status >= 500 ? tally.failed : tally.refused, std::move(visit.answer()));
    default:
      return counted(tally.failed, answer_of(Problem::store_unavailable, outage_pause));
  }
}

}  // namespace

Ingress::Ingress(Store& store, IngressTally& tally, IngressOptions options)
    : store_(store), tally_(tally), options_(options) {
  if (options_.lease < seconds(1) || options_.expiry < std::chrono::hours(1)) {
    throw std::invalid_argument("an ingress needs a lease of at least a second and an expiry of at least an hour");
  }
}

IngressAnswer Ingress::serve(const IngressRequest& request, const IngressHandler& handler) {
  if (const auto problem = ingress::wrong_with(request, options_)) return counted(tally_.refused, answer_of(*problem));
  try {
    Visit visit(store_, request, options_, handler);
    Found found = visit.reserve();
    switch (found.state) {
      case Found::State::done:
        return counted(tally_.repeated, std::move(found.answer));
      case Found::State::in_flight:
        return counted(tally_.in_flight, answer_of(Problem::request_in_flight, pause_of_one_too_early(found.left)));
      case Found::State::other_request:
        return counted(tally_.mismatched, answer_of(Problem::key_reused));
      case Found::State::ours:
        break;
    }
    return carry_out(visit, tally_);
  } catch (const Fault& fault) {
    if (fault.poisons() == Poisons::process) throw;
    return counted(tally_.failed, answer_of(Problem::store_unavailable, outage_pause));
  }
}

std::int64_t Ingress::forget_expired(std::int64_t most) {
  const auto unit = store_.begin({});
  const std::int64_t forgotten = ingress::forget_expired(unit->whole(), store_.dialect(), most);
  const Commit ending = unit->commit();
  if (ending != Commit::committed) throw not_committed(ending);
  return forgotten;
}

}  // namespace onceward
