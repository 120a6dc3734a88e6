#include "onceward/relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>

#include "src/records/statement.h"
#include "src/relay/departures.h"
#include "src/relay/idle.h"
#include "src/relay/leases.h"
#include "src/relay/pages.h"
#include "src/relay/routes.h"
#include "src/relay/stopped_keys.h"
#include "src/relay/store_outage.h"
#include "src/relay/target.h"
#include "src/relay/trim.h"
#include "src/relay/waiting.h"

namespace onceward {
namespace relay {
namespace {

using records::Statement;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t most_departures = 3;
constexpr milliseconds between_trims{2'000};
constexpr milliseconds between_looks{500};  // for rows that wait
constexpr int share_of_looks = 10;          // a look that takes long is made as seldom
constexpr milliseconds until_idle{50};

const RelayOptions& checked(const RelayOptions& options) {
  if (options.producer.empty()) throw std::invalid_argument("relay: a producer must be named");
  if (options.page < 1 || options.page > 10'000) throw std::invalid_argument("relay: a page has 1 to 10 000 rows");
  if (options.lease < milliseconds(100)) throw std::invalid_argument("relay: a lease is no shorter than 100 ms");
  return options;
}

}  // namespace
}  // namespace relay

using namespace relay;  // NOLINT: one subject

class Relay::Body {
 public:
  Body(RelayOptions options, Store& store, RelayTally& tally, Log& log)
      : options_(checked(options)),
        store_(store),
        tally_(tally),
        log_(log),
        routes_(options_.routes, options_.targets.size()),
        pages_(store, options_.producer),
        waiting_(store, options_.producer, options_.retry),
        leases_(store, options_.name, options_.lease),
        outage_(tally, log) {}

  void run(std::stop_token stop, milliseconds drain) {
    const std::stop_callback stopping(stop, [this] { wake(); });
    while (!stop.stop_requested()) surviving(stop, [&] { work_once(); });
    const auto end = steady_clock::now() + drain;
    while (!departures_.empty() && steady_clock::now() < end && !all_away()) surviving({}, [&] { finish_some(end); });
    end_targets();
    departures_.clear();
    try {
      leases_.give_up();
    } catch (const Fault&) {  // they end by themselves
    }
  }

  void wake() noexcept {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  std::string trouble() const {
    if (std::string of_store = outage_.trouble(); !of_store.empty()) return of_store;
    const std::lock_guard lock(mutex_);
    for (const auto& target : targets_) {
      if (std::string of_target = target->trouble(); !of_target.empty()) return of_target;
    }
    return {};
  }

 private:
  // Read, send and tell the store, each while the others are under way. No timer but for those who cannot wake us.
  void work_once() {
    if (steady_clock::now() >= leases_.due()) renew();
    if (misplaced_ || (leases_.unbalanced() && (departures_.empty() || all_away()))) rebalance();
    take_results();
    while (complete()) {
    }
    if (departures_.size() >= most_departures) pass_by_those_away();
    const bool sent = !leases_.unbalanced() && send_some();
    tidy_up();
    if (sent) {
      said_idle_ = false;
    } else if (departures_.empty() && !said_idle_) {
      fall_idle();
    } else {
      wait(options_.poll);
    }
  }

  void finish_some(steady_clock::time_point end) {
    if (steady_clock::now() >= leases_.due()) leases_.renew();
    take_results();
    pass_by_those_away();
    if (!complete()) wait(std::min(options_.poll, until(end)));
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
    read_stopped_targets();
    if (leases_.places().size() == before) return;
    bump(tally_.fenced);
    start_over();
  }

  // Nothing is sent any longer of what others may take.
  void rebalance() {
    departures_.clear();
    end_targets();
    leases_.take_share();
    start_over();
    misplaced_ = false;
  }

  // From the places that the store knows. What is under way of slots that we still have is published again.
  void start_over() {
    departures_.clear();
    end_targets();
    start_targets();
    pages_.forget();
    cohorts_.clear();
    for (const auto& [slot, place] : leases_.places()) cohorts_[place].push_back(slot);
    slots_.clear();
    for (const auto& [slot, place] : leases_.places()) slots_.push_back(slot);
    stopped_.read(waiting_, slots_);
    waited_for_ = waiting_.targets(slots_);
    due_under_way_ = false;
  }

  // A broker that is away does not hold back what goes to others: its rows wait in the store meanwhile. When it is the only
  // one they stay where they are.
  void pass_by_those_away() {
    if (all_away()) return;
    for (const auto& target : targets_) {
      if (target->away()) target->give_back();
    }
  }

  bool all_away() const {
    return std::ranges::all_of(targets_, [](const auto& target) { return target->away(); });
  }

  void read_stopped_targets() {
    const Rows rows = Statement(store_.dialect(), "SELECT target FROM {relay_paused}").query(*store_.look());
    stopped_targets_.clear();
    for (const Row& row : rows) stopped_targets_.insert(records::text_in(row[0]));
    stop_targets();
  }

  void stop_targets() {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      targets_[i]->stop(stopped_targets_.contains(options_.targets[i].name));
    }
  }

  // The slots that are behind the others go first, until they have caught up.
  bool send_page() {
    if (cohorts_.empty() || departures_.size() >= most_departures) return false;
    const auto first = cohorts_.begin();
    const auto next = std::next(first);
    const auto until = next == cohorts_.end() ? std::nullopt : std::optional(next->first);
    Page page = pages_.read(first->second, first->first, until, options_.page);
    if (page.to == first->first) return false;
    std::vector<int> slots = std::move(first->second);
    cohorts_.erase(first);
    std::ranges::copy(slots, std::back_inserter(cohorts_[page.to]));
    departures_.begin(std::move(slots), page.to, std::move(page.tick));
    send(std::move(page.rows), false, those_away());
    return true;
  }

  bool send_some() {
    const bool page = send_page();  // first, since somebody may just have committed
    return send_due() || page;
  }

  // Rows that wait and are due: one round at a time, of one target after the other.
  bool send_due() {
    const auto began = steady_clock::now();
    if (slots_.empty() || due_under_way_ || began < look_at_) return false;
    const std::vector<bool> away = those_away();
    std::vector<OutboxRow> rows;
    for (std::size_t left = waited_for_.size(); rows.empty() && left > 0; --left) {
      auto next = waited_for_.upper_bound(last_waited_for_);
      if (next == waited_for_.end()) next = waited_for_.begin();
      last_waited_for_ = *next;
      if (!is_away(last_waited_for_, away)) rows = waiting_.due(slots_, last_waited_for_, options_.page);
    }
    const auto end = steady_clock::now();
    look_at_ = end + std::max<steady_clock::duration>(between_looks, share_of_looks * (end - began));
    if (rows.empty()) return false;
    due_under_way_ = true;
    departures_.begin(slots_, std::nullopt);
    send(std::move(rows), true, away);
    return true;
  }

  // By their indexes. Asked once for all that is sent together: a key whose first row finds its target away, and whose
  // second does not, would lose its order. When all are away none is passed by.
  std::vector<bool> those_away() const {
    std::vector<bool> away;
    for (const auto& target : targets_) away.push_back(target->away());
    if (std::ranges::find(away, false) == away.end()) away.assign(away.size(), false);
    return away;
  }

  bool is_away(std::string_view target, const std::vector<bool>& away) const {
    for (std::size_t i = 0; i < away.size(); ++i) {
      if (options_.targets[i].name == target) return away[i];
    }
    return false;  // of an earlier declaration: it goes where its route leads now
  }

  void send(std::vector<OutboxRow> rows, bool again, const std::vector<bool>& away) {
    std::vector<std::vector<Parcel>> parcels(targets_.size());
    StoppedKeys held;  // of those that have waited: by a row that is in front of them here
    if (routes_.any_ordered()) order_by_version(rows);
    for (OutboxRow& row : rows) {
      const RelayRoute* const route = routes_.find(row.envelope.event_type().text());
      if (route == nullptr) {
        departures_.set_back(row, false, {}, Setback::Why::no_route, "no route has its type");
        continue;
      }
      const bool ordered = route->ordered && !row.key.empty();
      const std::string_view target = options_.targets[route->target].name;
      if (ordered && (again ? held : stopped_).contains(row.key)) {
        departures_.set_back(row, true, target, Setback::Why::behind);
      } else if (away[route->target]) {
        departures_.set_back(row, ordered, target, Setback::Why::away);
        if (ordered) held.add(row.key), stopped_.add(row.key);
      } else {
        const std::uint64_t number = departures_.add(row, ordered, target);
        const std::string_view key = Routes::key_of(*route, row);
        parcels[route->target].push_back({number, std::move(row), route->destination, key, ordered, again});
      }
    }
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (!parcels[i].empty()) targets_[i]->send(std::move(parcels[i]));
    }
  }

  void take_results() {
    for (const auto& target : targets_) {
      for (Result& result : target->results()) {
        if (result.kind == Result::Kind::published) bump(tally_.published);
        if (result.kind == Result::Kind::refused) bump(tally_.refused);
        departures_.take(std::move(result));
      }
    }
  }

  // The first page under way, if all of it has come to an end.
  bool complete() {
    if (departures_.done() == nullptr) return false;
    if (!record(*departures_.done())) return lose();
    completed(*departures_.done());
    departures_.pop();
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
      if (store_.dialect() == Dialect::sqlite) remove_what_left(*unit, most_removed());
    }
    if (unit->commit() == Commit::committed) return true;
    throw Fault(FaultCode::store_unavailable, Poisons::connection, "the relay's commit is in doubt: saying it again");
  }

  void completed(const Departure& departure) {
    if (departure.to) leases_.moved(departure.slots, *departure.to);
    for (const Setback& setback : departure.setbacks) {
      tell(setback);
      if (!waited_for_.contains(setback.target)) waited_for_.emplace(setback.target);
    }
    stopped_.add(departure.keys);
    if (departure.to) return;
    due_under_way_ = false;
    if (!departure.published.empty()) look_at_ = {};  // the next of their keys may be due
    for (const std::string& key : stopped_.open(departure.keys_of_published, waiting_, departures_)) {
      for (const auto& target : targets_) target->open(key);
    }
  }

  void tell(const Setback& setback) {
    if (!waiting_.used_up(setback)) return;
    bump(tally_.set_aside);
    const LogField fields[] = {{"position", setback.position}, {"route", setback.target}, {"why", setback.detail}};
    log_.write(LogLevel::error, "an outgoing message cannot be published and was set aside", fields);
  }

  bool lose() {
    bump(tally_.fenced);
    log_.write(LogLevel::warn, "another relay has taken over some of our keys, or the store has lost how far they were",
               {});
    misplaced_ = true;
    rebalance();
    return false;
  }

  void tidy_up() {
    if (steady_clock::now() < trim_at_) return;
    trim_at_ = steady_clock::now() + between_trims;
    forget_moves(store_);
    if (store_.dialect() == Dialect::sqlite) return tidy_up_sqlite();
    pages_.passed(lowest_tick(store_));
    empty_parts(store_);
  }

  void tidy_up_sqlite() {
    const auto unit = store_.begin({});
    remove_what_left(*unit, most_removed());
    unit->commit();
  }

  // More than are read meanwhile, so that what a slot has kept for the others goes too.
  std::int64_t most_removed() const { return 2 * std::int64_t{options_.page}; }

  static milliseconds until(steady_clock::time_point time) {
    return std::chrono::duration_cast<milliseconds>(time - steady_clock::now());
  }

  // Whether somebody woke us.
  bool wait(milliseconds most) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, std::min(steady_clock::now() + most, leases_.due()), [this] { return woken_; });
    return std::exchange(woken_, false);
  }

  // While the store is away everything is held.
  template <class Work>
  void surviving(std::stop_token stop, Work&& work) {
    try {
      work();
      outage_.over();
    } catch (const Fault& fault) {
      if (fault.poisons() == Poisons::process) throw;
      misplaced_ = misplaced_ || fault.fault() == FaultCode::lost_race;
      const auto until = steady_clock::now() + outage_.goes_on(fault);
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, until, [&] { return stop.stop_requested(); });
    }
  }

  void start_targets() {
    for (const RelayTarget& target : options_.targets) {
      auto started =
          std::make_unique<Target>(target, [this] { return leases_.held(); }, [this] { wake(); }, tally_, log_);
      const std::lock_guard lock(mutex_);
      targets_.push_back(std::move(started));
    }
    stop_targets();
  }

  void end_targets() {
    std::vector<std::unique_ptr<Target>> ended;
    const std::lock_guard lock(mutex_);
    ended.swap(targets_);
  }

  const RelayOptions options_;
  Store& store_;
  RelayTally& tally_;
  Log& log_;
  Routes routes_;
  Pages pages_;
  Waiting waiting_;
  Leases leases_;
  StoreOutage outage_;

  // Of the thread that owns the store.
  std::map<Place, std::vector<int>> cohorts_;  // our slots by how far they have been read
  std::vector<int> slots_;
  std::set<std::string> stopped_targets_;  // by a person
  Departures departures_;
  StoppedKeys stopped_;
  std::set<std::string, std::less<>> waited_for_;  // targets to which rows go that wait
  std::string last_waited_for_;
  bool due_under_way_ = false;
  bool said_idle_ = false;
  bool misplaced_ = false;  // the store may have other places for us
  steady_clock::time_point look_at_{}, trim_at_{};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::vector<std::unique_ptr<Target>> targets_;
};

Relay::Relay(RelayOptions options, Store& store, RelayTally& tally, Log& log)
    : body_(std::make_unique<Body>(std::move(options), store, tally, log)) {}
Relay::~Relay() = default;
void Relay::run(std::stop_token stop, std::chrono::milliseconds drain) { body_->run(std::move(stop), drain); }
void Relay::wake() noexcept { body_->wake(); }
std::string Relay::trouble() const { return body_->trouble(); }

}  // namespace onceward
