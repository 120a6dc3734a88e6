#include "onceward/relay.h"

#include <algorithm>
#include <stdexcept>

#include "src/records/pause.h"
#include "src/relay/cohorts.h"
#include "src/relay/departures.h"
#include "src/relay/due_rows.h"
#include "src/relay/idle.h"
#include "src/relay/leases.h"
#include "src/relay/sleep.h"
#include "src/relay/sorting.h"
#include "src/relay/stopped_keys.h"
#include "src/relay/store_outage.h"
#include "src/relay/targets.h"
#include "src/relay/trim.h"

namespace onceward {
namespace relay {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t most_departures = 3;
constexpr milliseconds between_looks{500};  // for rows that wait
constexpr milliseconds until_idle{50};

const RelayOptions& checked(const RelayOptions& options) {
  if (options.producer.empty()) throw std::invalid_argument("relay: a producer must be named");
  if (options.page < 1 || options.page > 10'000) throw std::invalid_argument("relay: a page has 1 to 10 000 rows");
  if (options.lease < milliseconds(100)) throw std::invalid_argument("relay: a lease is no shorter than 100 ms");
  if (options.patience < milliseconds(100)) throw std::invalid_argument("relay: patience is no shorter than 100 ms");
  return options;
}

std::set<std::string, std::less<>> paused_targets(Store& store) {
  std::set<std::string, std::less<>> names;
  for (const records::Pause& pause : records::list_pauses(store)) names.insert(pause.target);
  return names;
}

std::vector<int> slots_in(const std::map<int, Place>& places) {
  std::vector<int> slots;
  for (const auto& [slot, place] : places) slots.push_back(slot);
  return slots;
}

}  // namespace
}  // namespace relay

using namespace relay;  // NOLINT: one subject

// What a page lives through: it is read (Pages) from where its slots stand (Leases, Cohorts), sorted by what may go (Sorting),
// sent (Targets), and noted when each of its rows has left or is to wait (Departures, Waiting).
class Relay::Body {
 public:
  Body(RelayOptions options, Store& store, RelayTally& tally, Log& log)
      : options_(checked(options)),
        store_(store),
        tally_(tally),
        log_(log),
        pages_(store, options_.producer),
        waiting_(store, options_.producer, options_.retry, options_.patience),
        leases_(store, options_.name, options_.lease),
        trim_(store, pages_, options_.page),
        outage_(tally, log),
        sorting_(options_, departures_, stopped_),
        due_(waiting_, std::min(between_looks, options_.poll), options_.page),
        targets_(options_, [this] { return leases_.held(); }, [this] { wake(); }, tally, log) {}

  void run(std::stop_token stop, milliseconds drain) {
    const std::stop_callback stopping(stop, [this] { wake(); });
    while (!stop.stop_requested()) surviving(stop, [&] { work_once(); });
    const auto end = steady_clock::now() + drain;
    const auto ended = [&] { return departures_.empty() || steady_clock::now() >= end || targets_.all_away(); };
    while (!ended()) surviving({}, [&] { finish_some(end); });
    targets_.end();
    departures_.clear();
    try {
      leases_.give_up();
    } catch (const Fault&) {  // they end by themselves
    }
  }

  void wake() noexcept { sleep_.wake(); }

  std::string trouble() const {
    std::string of_store = outage_.trouble();
    return of_store.empty() ? targets_.trouble() : of_store;
  }

 private:
  // Read, send and tell the store, each while the others are under way. No timer but for those who cannot wake us.
  void work_once() {
    if (steady_clock::now() >= leases_.due()) renew();
    if (misplaced_ || (leases_.unbalanced() && (departures_.empty() || targets_.all_away()))) rebalance();
    take_results();
    while (complete()) {
    }
    if (misplaced_) return;
    targets_.open(stopped_.open(waiting_, departures_));
    targets_.give_back_what_is_away();
    const bool sent = !leases_.unbalanced() && send_some();
    trim_.now_and_then();
    if (sent) {
      said_idle_ = false;
    } else if (departures_.empty() && !said_idle_) {
      fall_idle();
    } else {
      wait(options_.poll);
    }
  }

  void finish_some(steady_clock::time_point end) {
    if (steady_clock::now() >= leases_.due()) renew();
    if (misplaced_) return departures_.clear();  // nothing more of it is sent or noted
    take_results();
    targets_.give_back_what_is_away();
    if (!complete()) wait(std::min(options_.poll, std::chrono::ceil<milliseconds>(end - steady_clock::now())));
  }

  // Those who stage are asked to tell only after a while, so that this costs little where messages come one by one.
  void fall_idle() {
    if (wait(std::min(options_.poll, until_idle))) return;
    say_idle(store_);
    said_idle_ = true;  // and looks once more
  }

  void renew() {
    const std::size_t before = leases_.places().size();
    leases_.renew();
    if (leases_.places().size() < before) misplace();
    targets_.stop_only(paused_targets(store_));
  }

  // Some slots are another's, or the store has lost where they were. It stays so until everything has begun anew, however
  // often the store is away meanwhile.
  void misplace() {
    bump(tally_.fenced);
    log_.write(LogLevel::warn, "another relay has taken over some of our keys, or the store has lost how far they were",
               {});
    misplaced_ = true;
  }

  // From the places that the store knows. Nothing is sent any longer of what others may take; what was under way of slots that
  // we still have is published again.
  void rebalance() {
    misplaced_ = true;
    departures_.clear();
    targets_.end();
    leases_.take_share();
    pages_.forget();
    cohorts_.start_anew(leases_.places());
    due_.start_anew(slots_in(leases_.places()));
    stopped_.read(waiting_, due_.slots());
    targets_.start_anew();
    misplaced_ = false;
  }

  bool send_some() {
    const bool page = send_page();  // first, since somebody may just have committed
    return send_due() || page;
  }

  bool send_page() {
    if (departures_.size() >= most_departures) return false;
    auto next = cohorts_.read(pages_, options_.page);
    if (!next) return false;
    departures_.begin(std::move(next->slots), next->page.to, std::move(next->page.tick));
    targets_.send(sorting_.sort(std::move(next->page.rows), false, targets_.away()));
    return true;
  }

  bool send_due() {
    const Targets::Names away = targets_.away();
    std::vector<OutboxRow> rows = due_.next(away);
    if (rows.empty()) return false;
    departures_.begin(due_.slots(), std::nullopt);
    targets_.send(sorting_.sort(std::move(rows), true, away));
    return true;
  }

  void take_results() {
    for (Result& result : targets_.results()) {
      if (result.kind == Result::Kind::published) bump(tally_.published);
      if (result.kind == Result::Kind::refused) bump(tally_.refused);
      departures_.take(std::move(result));
    }
  }

  // The first page under way, if all of it has come to an end.
  bool complete() {
    if (departures_.done() == nullptr) return false;
    if (!record(*departures_.done())) {
      misplace();
      return false;
    }
    completed(departures_.pop());
    return true;
  }

  // False if some of its slots are no longer ours, or the store has lost where they were.
  bool record(const Departure& departure) {
    const auto unit = store_.begin({});
    if (!departure.to) {
      if (!leases_.hold(*unit, departure.slots)) return false;
      waiting_.remove(*unit, departure.published);
      waiting_.put_again(*unit, departure.setbacks);
    } else {
      if (!leases_.move(*unit, departure.slots, *departure.to, departure.tick)) return false;
      waiting_.put(*unit, departure.setbacks);
      trim_.add_to(*unit);
    }
    if (unit->commit() == Commit::committed) return true;
    throw Fault(FaultCode::store_unavailable, Poisons::connection, "the relay's commit is in doubt: saying it again");
  }

  void completed(const Departure& departure) {
    for (const Setback& setback : departure.setbacks) {
      tell(setback);
      due_.expect(setback.target);
    }
    stopped_.add(departure.keys);
    if (departure.to) return leases_.moved(departure.slots, *departure.to);
    due_.ended(!departure.published.empty());
    stopped_.some_left(departure.keys_of_published);
  }

  void tell(const Setback& setback) {
    if (!waiting_.used_up(setback)) return;
    bump(tally_.set_aside);
    const LogField fields[] = {{"position", setback.position}, {"route", setback.target}, {"why", setback.detail}};
    log_.write(LogLevel::error, "an outgoing message cannot be published and was set aside", fields);
  }

  // Whether somebody woke us.
  bool wait(milliseconds most) { return sleep_.until(std::min(steady_clock::now() + most, leases_.due())); }

  // While the store is away everything is held.
  template <class Work>
  void surviving(std::stop_token stop, Work&& work) {
    try {
      work();
      outage_.over();
    } catch (const Fault& fault) {
      if (fault.poisons() == Poisons::process) throw;
      misplaced_ = misplaced_ || fault.fault() == FaultCode::lost_race;
      sleep_.until_or_stop(steady_clock::now() + outage_.goes_on(fault), stop);
    }
  }

  const RelayOptions options_;
  Store& store_;
  RelayTally& tally_;
  Log& log_;

  // Of the thread that owns the store.
  Pages pages_;
  Waiting waiting_;
  Leases leases_;
  Trim trim_;
  StoreOutage outage_;
  Cohorts cohorts_;
  Departures departures_;
  StoppedKeys stopped_;
  Sorting sorting_;
  DueRows due_;
  bool said_idle_ = false;
  bool misplaced_ = false;  // the store may have other places for us

  Sleep sleep_;
  Targets targets_;
};

Relay::Relay(RelayOptions options, Store& store, RelayTally& tally, Log& log)
    : body_(std::make_unique<Body>(std::move(options), store, tally, log)) {}
Relay::~Relay() = default;
void Relay::run(std::stop_token stop, std::chrono::milliseconds drain) { body_->run(std::move(stop), drain); }
void Relay::wake() noexcept { body_->wake(); }
std::string Relay::trouble() const { return body_->trouble(); }

}  // namespace onceward
