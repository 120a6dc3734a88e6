#include "onceward/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "src/common/one_line.h"
#include "src/dispatch/ahead.h"
#include "src/dispatch/circuit.h"
#include "src/dispatch/ledger.h"
#include "src/dispatch/policy.h"
#include "src/dispatch/rate.h"
#include "src/dispatch/scribe.h"
#include "src/dispatch/turn.h"
#include "src/envelope/derived_id.h"

namespace onceward {
namespace dispatch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t most_in_a_turn = 1'000;
constexpr std::size_t most_expired = 100;  // in a turn that starts nothing
constexpr milliseconds longest_outage{5'000};
constexpr milliseconds least_room{100};  // for the commit of an attempt, before it starts
constexpr int tries_before_told = 3;
constexpr std::size_t most_ahead = 16;  // times as many as may be under way

void bump(DispatchTally::Count& count) { count.fetch_add(1, std::memory_order_relaxed); }

const EndpointDeclaration& checked(const EndpointDeclaration& declaration, const Endpoint& endpoint) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(fmt::format("endpoint {}: {}", declaration.name, what));
  };
  require(!declaration.name.empty(), "it must have a name");
  require(declaration.lease >= endpoint.longest() + least_room, "its lease must be 100 ms longer than a call may take");
  require(declaration.concurrency > 0, "at least one call is under way at a time");
  require(declaration.retry.attempts > 0, "at least one attempt is made");
  require(declaration.circuit_failures > 0, "a circuit opens after one failure or more");
  require(declaration.rate >= 0, "its rate is no less than 0");
  return declaration;
}

DispatchTally::Count& count_of(DispatchTally& tally, EndpointAnswer::Kind kind) {
  DispatchTally::Count* const counts[] = {&tally.succeeded,      &tally.failed,       &tally.put_off,
                                          &tally.not_sent,       &tally.unknown,      &tally.found_done,
                                          &tally.found_not_done, &tally.still_unknown};
  return *counts[static_cast<std::size_t>(kind)];
}

Ending ending_of(const Asked& asked, const EndpointAnswer& answer, const Change& told) {
  return {.number = asked.number,
          .attempt = asked.attempt,
          .outcome = std::string(name(answer.kind)),
          .status = answer.status,
          .external_ref = told.external_ref,
          .detail = told.detail,
          .response = told.response};
}

}  // namespace
}  // namespace dispatch

using namespace dispatch;  // NOLINT: one subject

class Dispatcher::Body {
 public:
  Body(const EndpointDeclaration& declaration, const std::string& name, Store& store, Endpoint& endpoint,
       DispatchTally& tally, Log& log)
      : declaration_(checked(declaration, endpoint)),
        owner_(fmt::format("{}/{}", name, fresh_id())),
        endpoint_(endpoint),
        tally_(tally),
        log_(log),
        policy_(declaration_, endpoint.looks_up(), endpoint.longest(), owner_),
        ledger_(store, declaration_.name, owner_),
        rate_(declaration_.rate, steady_clock::now()),
        circuit_(declaration_.circuit_failures, declaration_.circuit_pause),
        ahead_(declaration_.idempotent || endpoint.looks_up() ? most_ahead * declaration_.concurrency : 0) {}

  void run(std::stop_token stop, milliseconds drain) {
    const std::stop_callback stopping(stop, [this] { wake(); });
    while (!stop.stop_requested()) {
      surviving(stop, [&] {
        collect(patience());
        start_ready();
        if (!has_enough_to_start()) turn(startable());
      });
    }
    leave_ready();
    const auto end = drain_end_ = steady_clock::now() + drain;
    while (unfinished() && steady_clock::now() < end) {
      surviving(stop, [&] {
        collect(!to_record() && !unstarted() ? std::min(declaration_.poll, until(end)) : milliseconds(0));
        turn(std::nullopt);
      });
    }
  }

  void wake() noexcept {
    woken_ = true;
    endpoint_.wake();
  }

  std::string trouble() const {
    const std::lock_guard lock(mutex_);
    return store_trouble_.empty() ? circuit_trouble_ : store_trouble_;
  }

 private:
  // The answers that have come are written down and new calls are marked, in one unit; then these are started. Without a
  // number of calls that may start nothing else is looked at. Calls go on all the while.
  void turn(std::optional<std::size_t> may_start) {
    const bool was_closed = circuit_.closed(), starts_none = may_start == std::size_t{0};
    const auto due = starts_none ? Ledger::Due::expired : Ledger::Due::all;
    full_ = full_ && starts_none;  // which says nothing of what could be started
    if (!has_to_write() && (!may_start || (quiet_ && !any_due(due)))) return;
    Turn turn{.began = steady_clock::now(), .left = left_};
    std::ranges::move(std::exchange(answers_, {}), std::back_inserter(recording_));
    const std::size_t most = !may_start ? 0 : starts_none ? most_expired : *may_start;
    Found found = read(due, most);
    give_back(found.ours, turn);
    for (const Standing& standing : found.ledger.answered) record(standing, turn);
    for (std::size_t i = 0; i < found.ledger.due.size(); ++i) {
      const std::int64_t number = found.ledger.due[i].number;
      if (is_answered(number) || is_under_way(number)) continue;
      plan(found.ledger.due[i], std::move(found.ledger.contents[i]), turn);
    }
    write(*found.unit, turn);
    given_back_ = turn.left;
    reconsidered_ = true;
    quiet_ = found.ledger.due.empty();
    if (!starts_none) full_ = most > 0 && found.ledger.due.size() == most;
    ended_at_ = steady_clock::now();
    ahead_.note(recording_.size(), turn.began - began_at_, ended_at_ - turn.began);
    began_at_ = turn.began;
    completed(turn);
    std::ranges::move(turn.starts, std::back_inserter(ready_));
    if (was_closed && !circuit_.closed()) leave_ready();
    start_ready();
  }

  // The store works while calls go on. What `work` refers to is not touched meanwhile.
  void meanwhile(const std::function<void()>& work) {
    scribe_.begin(work);
    try {
      while (scribe_.busy()) {
        collect(declaration_.poll);
        start_ready();
      }
    } catch (...) {
      scribe_.finish();
      throw;
    }
    scribe_.finish();
  }

  bool any_due(Ledger::Due which) {
    bool any = false;
    meanwhile([&] { any = ledger_.any_due(which); });
    return any;
  }

  Found read(Ledger::Due due, std::size_t most) {
    Found found;
    const bool with_ours = unstarted(), reconsidered = reconsidered_;
    const std::vector<std::int64_t> answered = answered_numbers(), doubted = doubted_;
    meanwhile([&] {
      found.unit = ledger_.begin();
      if (!doubted.empty()) ledger_.await(*found.unit, doubted);
      if (!reconsidered) ledger_.reconsider(*found.unit);
      if (with_ours) found.ours = ledger_.read_ours(*found.unit);
      found.ledger = ledger_.read(*found.unit, answered, due, most);
    });
    doubted_.clear();
    return found;
  }

  // What it has marked was not started, and what it has recorded is recorded again.
  void write(UnitOfWork& unit, const Turn& turn) {
    const std::vector<std::int64_t> renewed = to_renew(turn.began);
    ++left_;
    for (const Change& change : turn.changes) doubted_.push_back(change.number);
    Commit commit = Commit::in_doubt;
    meanwhile([&] {
      ledger_.renew(unit, renewed, declaration_.lease);
      ledger_.write(unit, turn.changes, turn.beginnings, turn.endings);
      commit = unit.commit();
    });
    if (commit != Commit::committed) {
      throw Fault(FaultCode::store_unavailable, Poisons::connection, "the dispatcher's commit is in doubt");
    }
    --left_;
    doubted_.clear();
  }

  void give_back(const std::vector<Standing>& ours, Turn& turn) {
    for (const Standing& standing : ours) {
      if (is_ready(standing.number) || is_under_way(standing.number) || is_answered(standing.number)) continue;
      turn.changes.push_back(policy_.given_back(standing));
      turn.endings.push_back({.number = standing.number, .attempt = standing.last_attempt, .outcome = "not_started"});
    }
  }

  // An answer that was recorded by a commit in doubt is seen as such.
  void record(const Standing& standing, Turn& turn) {
    const auto found =
        std::ranges::find_if(recording_, [&](const auto& one) { return one.first.number == standing.number; });
    const auto& [asked, answer] = *found;
    if (standing.our_outcome == name(answer.kind)) return;
    std::optional<Change> change = policy_.answered(standing, asked, answer);
    turn.endings.push_back(ending_of(asked, answer, change ? *change : policy_.told(answer)));
    if (!change) {
      ++turn.fenced;
      return;
    }
    turn.changes.push_back(std::move(*change));
  }

  void plan(const Standing& standing, Content content, Turn& turn) {
    Step step = policy_.next(standing);
    if (standing.state == CallState::attempting) {
      ++turn.expired;
      turn.endings.push_back({.number = standing.number,
                              .attempt = standing.last_call,
                              .outcome = "unknown",
                              .detail = step.change.detail});
    }
    if (step.change.state == CallState::waiting) ++turn.waiting;
    turn.changes.push_back(step.change);
    if (step.start == Step::Start::nothing) return;
    turn.beginnings.push_back({standing.number, step.change.last_attempt, step.start == Step::Start::look_up});
    turn.starts.push_back({std::move(step), std::move(content), standing.external_ref, turn.began});
  }

  // A call ends within its lease; that its answer can be written down by then is not as sure.
  std::vector<std::int64_t> to_renew(steady_clock::time_point now) {
    std::vector<std::int64_t> numbers;
    if (now < renew_at_) return numbers;
    for (const auto& [tag, asked] : under_way_) numbers.push_back(asked.number);
    if (!numbers.empty()) renew_at_ = now + declaration_.lease / 3;
    return numbers;
  }

  void completed(const Turn& turn) {
    recording_.clear();
    tally_.fenced.fetch_add(turn.fenced, std::memory_order_relaxed);
    tally_.expired.fetch_add(turn.expired, std::memory_order_relaxed);
    tally_.waiting.fetch_add(turn.waiting, std::memory_order_relaxed);
    for (const Change& change : turn.changes) tell(change);
  }

  void tell(const Change& change) {
    const bool for_a_person = change.state == CallState::unknown && !change.due;
    if (!for_a_person && change.code != "attempts_exhausted") return;
    const LogField fields[] = {
        {"endpoint", declaration_.name}, {"number", change.number}, {"code", change.code}, {"why", change.detail}};
    log_.write(LogLevel::error,
               for_a_person ? "the outcome of a call is unknown: it waits for a person" : "a call has failed for good",
               fields);
  }

  // As many of those that are marked as there is room for. Not what has become too old meanwhile: the next turn gives that back.
  void start_ready() {
    std::vector<Start> starts;
    const auto now = steady_clock::now();
    const auto too_old = [&](const Start& one) { return now - one.looked_at > one.step.within; };
    for (const std::size_t most = room(); !ready_.empty(); ready_.pop_front()) {
      if (too_old(ready_.front())) {
        ++left_;
      } else if (starts.size() < most) {
        starts.push_back(std::move(ready_.front()));
      } else {
        break;
      }
    }
    if (!starts.empty()) start(starts);
  }

  void start(const std::vector<Start>& starts) {
    std::vector<EndpointRequest> requests;
    for (const Start& start : starts) {
      const bool look_up = start.step.start == Step::Start::look_up;
      const Content& content = start.content;
      under_way_[++last_tag_] = {start.step.change.number, start.step.change.last_attempt, look_up, start.step.settled};
      requests.push_back({.tag = last_tag_,
                          .kind = look_up ? EndpointRequest::Kind::look_up : EndpointRequest::Kind::call,
                          .key = content.key,
                          .type = content.type,
                          .business_key = content.business_key,
                          .body = content.body,
                          .external_ref = start.external_ref,
                          .correlation_id = content.correlation_id,
                          .trace_parent = content.trace_parent,
                          .created_at = content.created_at});
      if (!look_up) bump(tally_.started);
    }
    if (under_way_.size() == requests.size()) renew_at_ = starts.front().looked_at + declaration_.lease / 3;
    rate_.spend(requests.size(), steady_clock::now());
    endpoint_.start(requests);
  }

  // The next turn gives them back.
  void leave_ready() {
    if (ready_.empty()) return;
    ready_.clear();
    ++left_;
  }

  void collect(milliseconds wait) {
    std::vector<EndpointAnswer> fresh;
    endpoint_.collect(fresh, std::max(wait, milliseconds(0)));
    for (EndpointAnswer& answer : fresh) {
      const auto asked = under_way_.find(answer.tag);
      if (asked == under_way_.end()) continue;
      bump(count_of(tally_, answer.kind));
      note(answer);
      answers_.emplace_back(asked->second, std::move(answer));
      under_way_.erase(asked);
    }
    if (!circuit_.closed()) leave_ready();
  }

  void note(const EndpointAnswer& answer) {
    const bool was_closed = circuit_.closed();
    if (circuit_.note(answer.kind, steady_clock::now())) {
      bump(tally_.circuit_opened);
      const LogField fields[] = {{"endpoint", declaration_.name}, {"why", answer.why}};
      log_.write(LogLevel::warn, "calls to an endpoint come to nothing: it is left alone for a while", fields);
    }
    if (was_closed == circuit_.closed()) return;
    const std::lock_guard lock(mutex_);
    circuit_trouble_ = circuit_.closed()
                           ? std::string()
                           : fmt::format("the circuit of {} is open: {}", declaration_.name, one_line(answer.why));
  }

  bool unstarted() const { return left_ != given_back_; }
  bool to_record() const { return !answers_.empty() || !recording_.empty(); }
  bool has_to_write() const { return to_record() || unstarted() || !reconsidered_ || renewal_is_due(); }
  bool renewal_is_due() const { return !under_way_.empty() && steady_clock::now() >= renew_at_; }
  bool unfinished() const { return !under_way_.empty() || to_record() || unstarted(); }

  std::size_t room() const {
    return std::min(endpoint_.room(), declaration_.concurrency - std::min(declaration_.concurrency, under_way_.size()));
  }

  // Besides those that are ready.
  std::size_t startable() {
    const auto now = steady_clock::now();
    const std::size_t rate = rate_.allowed(now);
    return std::min({room() + ahead_.room(ready_.size()), rate - std::min(rate, ready_.size()),
                     circuit_.allowed(under_way_.size(), now), most_in_a_turn});
  }

  bool has_enough_to_start() const {
    return !ready_.empty() && !unstarted() && steady_clock::now() < ended_at_ + Ahead::moment;
  }

  // How long to wait for answers before the next turn.
  milliseconds patience() {
    if (has_enough_to_start()) return until(ended_at_ + Ahead::moment);
    if (woken_.exchange(false) || to_record() || unstarted() || !reconsidered_) return milliseconds(0);
    const auto now = steady_clock::now();
    milliseconds wait = declaration_.poll;
    if (full_ && startable() > 0) wait = milliseconds(0);
    if (full_ && rate_.allowed(now) == 0) {
      wait = std::min(wait, std::chrono::ceil<milliseconds>(rate_.until_next(now)));
    }
    if (!circuit_.closed() && circuit_.open_until() > now) wait = std::min(wait, until(circuit_.open_until()));
    return wait;
  }

  static milliseconds until(steady_clock::time_point time) {
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(time - steady_clock::now()));
  }

  bool is_ready(std::int64_t number) const {
    return std::ranges::any_of(ready_, [&](const Start& one) { return one.step.change.number == number; });
  }
  bool is_under_way(std::int64_t number) const {
    return std::ranges::any_of(under_way_, [&](const auto& one) { return one.second.number == number; });
  }
  bool is_answered(std::int64_t number) const {
    const auto is = [&](const auto& one) { return one.first.number == number; };
    return std::ranges::any_of(answers_, is) || std::ranges::any_of(recording_, is);
  }

  std::vector<std::int64_t> answered_numbers() const {
    std::vector<std::int64_t> numbers;
    for (const auto& [asked, answer] : recording_) numbers.push_back(asked.number);
    return numbers;
  }

  // While the store is away nothing is started, and answers are kept.
  template <class Work>
  void surviving(std::stop_token stop, Work&& work) {
    try {
      work();
      if (tries_ > 0) store_is_back();
    } catch (const Fault& fault) {
      if (fault.poisons() == Poisons::process) throw;
      store_is_away(stop, fault);
    }
  }

  void store_is_away(std::stop_token stop, const Fault& fault) {
    if (tries_++ == 0 && !fault.transient()) tries_ = tries_before_told;
    if (tries_ == tries_before_told) {
      bump(tally_.store_outages);
      const LogField fields[] = {
          {"endpoint", declaration_.name}, {"fault", code(fault.fault())}, {"why", fault.what()}};
      log_.write(LogLevel::warn, "a dispatcher waits for the store", fields);
      const std::lock_guard lock(mutex_);
      store_trouble_ = fault.what();
    }
    const bool stopped = stop.stop_requested();
    const auto next = steady_clock::now() + std::min(milliseconds(5) * (1 << std::min(tries_, 10)), longest_outage);
    const auto end = std::min(next, drain_end_);
    while (steady_clock::now() < end && stop.stop_requested() == stopped) collect(until(end));
  }

  void store_is_back() {
    if (tries_ >= tries_before_told) log_.write(LogLevel::info, "a dispatcher has the store again", {});
    tries_ = 0;
    const std::lock_guard lock(mutex_);
    store_trouble_.clear();
  }

  const EndpointDeclaration declaration_;
  const std::string owner_;  // a word that no other run of any dispatcher has
  Endpoint& endpoint_;
  DispatchTally& tally_;
  Log& log_;
  const Policy policy_;
  const Ledger ledger_;

  // Of the thread that runs.
  Rate rate_;
  Circuit circuit_;
  Ahead ahead_;
  std::deque<Start> ready_;                             // marked, and not yet under way
  std::unordered_map<std::uint64_t, Asked> under_way_;  // by tag
  using Answers = std::vector<std::pair<Asked, EndpointAnswer>>;
  Answers answers_;    // that have come since the last turn began
  Answers recording_;  // before that, and not known to be written down
  std::uint64_t last_tag_ = 0;
  std::vector<std::int64_t> doubted_;        // rows that a commit in doubt may still change
  std::uint64_t left_ = 0, given_back_ = 0;  // times that rows under our name were left marked and not under way
  bool reconsidered_ = false;                // what waited for a person when we began
  bool quiet_ = false;                       // nothing was due at the last turn
  bool full_ = false;                        // and as much as could be taken was
  steady_clock::time_point began_at_{}, ended_at_{};  // the last turn
  steady_clock::time_point renew_at_{};
  int tries_ = 0;
  std::atomic<bool> woken_ = false;  // by somebody who may have staged something, or asks for the end
  steady_clock::time_point drain_end_ = steady_clock::time_point::max();

  mutable std::mutex mutex_;
  std::string store_trouble_, circuit_trouble_;

  Scribe scribe_{[this] { endpoint_.wake(); }};
};

Dispatcher::Dispatcher(const EndpointDeclaration& declaration, std::string name, Store& store, Endpoint& endpoint,
                       DispatchTally& tally, Log& log)
    : body_(std::make_unique<Body>(declaration, name, store, endpoint, tally, log)) {}
Dispatcher::~Dispatcher() = default;
void Dispatcher::run(std::stop_token stop, std::chrono::milliseconds drain) { body_->run(std::move(stop), drain); }
void Dispatcher::wake() noexcept { body_->wake(); }
std::string Dispatcher::trouble() const { return body_->trouble(); }

}  // namespace onceward
