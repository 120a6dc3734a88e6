#include "src/relay/target.h"

#include <algorithm>
#include <utility>

namespace onceward::relay {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t burst = 128;  // between two looks at the lease
constexpr milliseconds tending{1'000};
constexpr milliseconds longest{5'000};
constexpr milliseconds first_pause{50};  // for a broker that puts off

}  // namespace

Target::Target(const RelayTarget& target, milliseconds patience, std::function<bool()> may_send,
               std::function<void()> told, RelayTally& tally, Log& log)
    : target_(target),
      patience_(patience),
      may_send_(std::move(may_send)),
      told_(std::move(told)),
      tally_(tally),
      log_(log),
      thread_([this](std::stop_token stop) { run(stop); }) {}

Target::~Target() {
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  if (publisher_) publisher_->wake();
}

void Target::send(std::vector<Parcel> parcels) {
  const std::lock_guard lock(mutex_);
  std::ranges::move(parcels, std::back_inserter(parcels_));
  changed_.notify_all();
  if (publisher_) publisher_->wake();
}

void Target::open(std::string key) {
  const std::lock_guard lock(mutex_);
  opened_.push_back(std::move(key));
}

void Target::stop(bool stopped) {
  const std::lock_guard lock(mutex_);
  if (stopped == stopped_) return;
  stopped_ = stopped;
  changed_.notify_all();
  if (publisher_) publisher_->wake();
}

bool Target::away() const {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  return stopped_ || (away_since_ && now - *away_since_ > patience_) || silence_.away(now);
}

void Target::give_back() {
  const std::lock_guard lock(mutex_);
  give_back_ = true;
  changed_.notify_all();
}

std::vector<Result> Target::results() {
  const std::lock_guard lock(mutex_);
  return std::exchange(results_, {});
}

std::string Target::trouble() const {
  const std::lock_guard lock(mutex_);
  if (trouble_.empty() && silence_.away(Clock::now())) return target_.name + ": nothing is confirmed";
  return trouble_;
}

void Target::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    take_in(stop);
    try {
      work(stop);
      over();
    } catch (const Fault& fault) {
      away(stop, fault);
    }
    hand_out();
  }
}

void Target::work(std::stop_token stop) {
  if (!publisher_) set_publisher(target_.open());
  if (!may_send() && flight_.has_next()) pause(stop, first_pause);
  const auto left = std::chrono::ceil<milliseconds>(send_at_ - Clock::now());
  if (left > milliseconds(0)) {
    if (publisher_->outstanding() == 0) return pause(stop, left);
    return collect(*publisher_, std::min(left, tending));
  }
  if (tries_ > 0) {
    collect(*publisher_, milliseconds(0));  // what the loss has left
    publisher_->publish({});                // having nothing to send does not tell that it is back
  }
  send_some(*publisher_);
  collect(*publisher_, flight_.has_next() && publisher_->room() > 0 ? milliseconds(0) : tending);
}

// Waits only while there is nothing else to do.
void Target::take_in(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (flight_.size() == 0) changed_.wait_for(lock, stop, tending, [&] { return !parcels_.empty(); });
  for (const std::string& key : std::exchange(opened_, {})) flight_.open(key);
  for (Parcel& parcel : parcels_) flight_.add(std::move(parcel));
  parcels_.clear();
  if (std::exchange(give_back_, false)) flight_.give_back(silence_.away(Clock::now()));
}

bool Target::may_send() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
  }
  return may_send_();
}

void Target::send_some(Publisher& publisher) {
  while (flight_.has_next() && publisher.room() > 0 && may_send()) {
    const std::vector<Publication> publications = flight_.next(std::min(burst, publisher.room()));
    try {
      publisher.publish(publications);
    } catch (const Fault&) {
      flight_.take_back(publications);
      throw;
    }
  }
}

void Target::collect(Publisher& publisher, milliseconds wait) {
  receipts_.clear();
  publisher.collect(receipts_, wait);
  bool heard = false, put_off = false, in_doubt = false;
  for (const Receipt& receipt : receipts_) {
    if (receipt.kind == Receipt::Kind::put_off) bump(tally_.put_off), put_off = true;
    if (receipt.kind == Receipt::Kind::in_doubt) bump(tally_.in_doubt), in_doubt = true;
    heard |= receipt.kind == Receipt::Kind::confirmed || receipt.kind == Receipt::Kind::refused;
    flight_.answer(receipt);
  }
  note_silence(publisher, heard, put_off || in_doubt || publisher.outstanding() > 0);
  be_patient(heard, put_off, in_doubt);
}

// Once for all that was sent together, however its answers come.
void Target::be_patient(bool heard, bool put_off, bool in_doubt) {
  const auto now = Clock::now();
  if (heard) {
    rounds_unheard_ = 0;
    send_at_ = put_off ? now + first_pause : now;
  } else if ((put_off || in_doubt) && now >= send_at_) {
    send_at_ = now + std::min(first_pause * (1 << std::min(rounds_unheard_++, 10)), longest);
  }
}

void Target::note_silence(const Publisher& publisher, bool heard, bool waits) {
  const auto now = Clock::now();
  bool away = false;
  {
    const std::lock_guard lock(mutex_);
    if (heard) {
      silence_.heard();
    } else if (waits) {
      silence_.goes_on(now);
    } else if (flight_.size() == 0) {
      silence_.nothing_under_way(now);
    }
    away = silence_.away(now);
  }
  if (away == silent_ || (silent_ && !heard)) return;
  silent_ = away;
  const std::string at = publisher.describe();
  const LogField fields[] = {{"target", target_.name}, {"at", at}};
  if (away) bump(tally_.publisher_outages);
  log_.write(away ? LogLevel::warn : LogLevel::info,
             away ? "the broker confirms nothing; holding" : "the broker confirms again", fields);
}

void Target::hand_out() {
  std::vector<Result> results = flight_.results();
  if (results.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(results, std::back_inserter(results_));
  }
  told_();
}

void Target::set_publisher(std::unique_ptr<Publisher> publisher) {
  const std::lock_guard lock(mutex_);
  publisher_ = std::move(publisher);
}

void Target::pause(std::stop_token stop, milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, time, [&] { return give_back_ && (flight_.size() > 0 || !parcels_.empty()); });
}

void Target::away(std::stop_token stop, const Fault& fault) {
  if (tries_++ == 0) {
    bump(tally_.publisher_outages);
    const LogField fields[] = {{"target", target_.name}, {"fault", code(fault.fault())}, {"why", fault.what()}};
    log_.write(LogLevel::warn, "the broker cannot be published to; holding", fields);
  }
  {
    const std::lock_guard lock(mutex_);
    trouble_ = fault.what();
    if (!away_since_) away_since_ = Clock::now();
  }
  pause(stop, std::min(milliseconds(100) * (1 << std::min(tries_, 10)), longest));
}

void Target::over() {
  if (tries_ == 0) return;
  tries_ = 0;
  const LogField fields[] = {{"target", target_.name}};
  log_.write(LogLevel::info, "the broker can be published to again", fields);
  const std::lock_guard lock(mutex_);
  trouble_.clear();
  away_since_.reset();
}

}  // namespace onceward::relay
