#include "onceward/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include "src/worker/alone.h"
#include "src/worker/applier.h"
#include "src/worker/lanes.h"
#include "src/worker/receiver.h"
#include "src/worker/tally.h"

namespace onceward {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds idle{1'000};  // how long nothing is asked of the store
constexpr std::size_t most_due = 256;
constexpr int most_alone = 16;

void check_all(const Declaration& declaration, const Source& source) {
  if (const auto mistakes = check(declaration); !mistakes.empty()) throw std::invalid_argument(to_string(mistakes));
  if (declaration.order == Order::key || declaration.gap) {
    throw std::invalid_argument(fmt::format(
        "consumer {}: order by key and gap policies are not there yet: leave out order = \"key\" and gap, or "
        "take order = \"partition\"",
        declaration.name));
  }
  if ((declaration.offsets == Offsets::store) != source.has_positions()) {
    throw std::invalid_argument(fmt::format(
        "consumer {}: offsets = \"store\" and a source whose streams the store keeps belong together; {} {}",
        declaration.name, source.describe(), source.has_positions() ? "is such a source" : "is not such a source"));
  }
  const auto timeout = source.ack_timeout();
  if (timeout && declaration.time_bound >= *timeout) {
    throw std::invalid_argument(fmt::format(
        "consumer {}: time_bound is {} ms, and {} hands a message to somebody else after {} ms: lower time_bound",
        declaration.name, declaration.time_bound.count(), source.describe(), timeout->count()));
  }
}

}  // namespace

class Worker::Body {
 public:
  Body(const Declaration& declaration, Handler handler, Store& store, Source& source, ConsumerTally& tally, Log& log)
      : declaration_(declaration),
        source_(source),
        tally_(tally),
        log_(log),
        handover_(declaration.batch),
        outage_(handover_, tally, log, declaration.name),
        watchdog_(
            declaration.time_bound, [&store] { store.cancel(); }, [this] { give_up(); }),
        handling_(handling_of(std::move(handler), declaration_, watchdog_)),
        applier_(declaration_, *handling_, store, outage_, tally, log,
                 [this](Settlements& settlements) { tell_source(settlements); }),
        alone_(declaration_, store, applier_, outage_, tally) {}

  void run(std::stop_token stop, milliseconds drain) {
    Receiver receiver(source_, declaration_, handover_, tally_, log_);
    const Shown shown(*this, receiver);
    const std::stop_callback stopping(stop, [&] {
      outage_.give_up_at(steady_clock::now() + drain);
      handover_.close();
      source_.wake();
    });
    while (work_once(stop)) {
    }
  }

  std::string trouble() const {
    if (std::string of_store = outage_.trouble(); !of_store.empty()) return of_store;
    const std::lock_guard lock(mutex_);
    return receiver_ ? receiver_->trouble() : std::string();
  }

 private:
  // What has arrived while the last batch was under way is the next one: no timer, and no wait when idle.
  bool work_once(std::stop_token stop) {
    handover_.take(arrivals_, time_to_wait());
    lanes_.pass(arrivals_, steady_clock::now());
    if (!arrivals_.empty()) {
      settlements_.clear();
      apply(arrivals_);
      lanes_.keep(arrivals_, applier_.put_off(), steady_clock::now());
      tell_source(settlements_);
    } else if (stop.stop_requested()) {
      return false;
    }
    handover_.receive_ahead(lanes_.full(declaration_.batch) ? 0 : applier_.most());
    if (outage_.given_up()) return false;
    if (stop.stop_requested()) return true;  // only what was received is still finished
    if (const auto retry = applier_.next_retry()) retry_at_ = std::min(retry_at_, *retry);
    run_due();
    return true;
  }

  // Those that were delivered before may have been under way when a worker ended; the others cannot have been.
  void apply(const Arrivals& arrivals) {
    fresh_.clear();
    suspects_.clear();
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const Delivery& delivery = arrivals.deliveries[i];
      Item item{.envelope = &delivery.envelope,
                .identified = &arrivals.identities[i],
                .tag = delivery.tag,
                .partition = delivery.partition,
                .position = delivery.position ? &*delivery.position : nullptr,
                .attempts = lanes_.attempts(delivery.tag),
                .unsure = delivery.deliveries == 0};
      const auto* const refusal = std::get_if<Refusal>(item.identified);
      if (refusal != nullptr && item.position != nullptr) item.failure = failure_of(*refusal);
      // One that cannot be read has run nowhere; where positions are claimed, it has its turn nevertheless.
      const bool suspect = delivery.redelivered && (!delivery.refusal || item.position != nullptr);
      (suspect ? suspects_ : fresh_).push_back(item);
    }
    applier_.begin();
    bump(tally_.received, arrivals.size());
    bump(tally_.redelivered, suspects_.size());
    // In a partition those of unknown history come first.
    if (declaration_.order == Order::partition && !run_suspects()) return;
    if (applier_.as_declared(fresh_, settlements_) && declaration_.order != Order::partition) run_suspects();
  }

  // What is committed is settled at once, and not when all that came with it is: its source may be waiting for it.
  void tell_source(Settlements& settlements) {
    if (settlements.empty()) return;
    handover_.settle(settlements);
    source_.wake();
    settlements.clear();
  }

  bool run_suspects() { return suspects_.empty() || alone_.suspects(suspects_, settlements_); }

  milliseconds time_to_wait() {
    const auto now = steady_clock::now();
    const auto look = std::min({look_at_, retry_at_, lanes_.next().value_or(steady_clock::time_point::max())});
    if (now >= look) return milliseconds(0);
    return std::chrono::ceil<milliseconds>(look - now);
  }

  // Those that wait for their next attempt run together, as new ones do; then, one by one, those that may have ended a
  // worker. A few at a time, and some of each, so that neither the kept nor the new ones wait for the others.
  void run_due() {
    const auto now = steady_clock::now();
    if (now < std::min(look_at_, retry_at_)) return;
    look_at_ = now;
    if (now >= retry_at_) retry_at_ = steady_clock::time_point::max();
    const bool together = applier_.due(std::min(most_due, applier_.most()));
    for (int i = 0; i < (together ? 1 : most_alone); ++i) {
      if (alone_.due()) continue;
      if (!together) look_at_ = steady_clock::now() + idle;
      return;
    }
  }

  [[noreturn]] void give_up() {
    const LogField fields[] = {{"consumer", declaration_.name}, {"bound_ms", declaration_.time_bound.count()}};
    log_.write(LogLevel::error, "a handler passed twice its time bound: the process ends", fields);
    ::_exit(exit_time_bound);
  }

  // While this lives, the receiver's trouble is ours.
  struct Shown {
    Shown(Body& its_body, const Receiver& receiver) : body(its_body) { body.set_receiver(&receiver); }
    ~Shown() { body.set_receiver(nullptr); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;
    Body& body;
  };
  void set_receiver(const Receiver* receiver) {
    const std::lock_guard lock(mutex_);
    receiver_ = receiver;
  }

  const Declaration declaration_;
  Source& source_;
  ConsumerTally& tally_;
  Log& log_;
  Handover handover_;
  Outage outage_;
  Watchdog watchdog_;
  const std::unique_ptr<Handling> handling_;
  Applier applier_;
  Alone alone_;

  // Of the store's thread.
  Arrivals arrivals_;
  Lanes lanes_;
  std::vector<Item> fresh_, suspects_;
  Settlements settlements_;
  steady_clock::time_point look_at_{};                                   // for what waits in the store
  steady_clock::time_point retry_at_ = steady_clock::time_point::max();  // of what is known to be due then

  mutable std::mutex mutex_;
  const Receiver* receiver_ = nullptr;
};

Worker::Worker(const Declaration& declaration, Handler handler, Store& store, Source& source, ConsumerTally& tally,
               Log& log) {
  check_all(declaration, source);
  body_ = std::make_unique<Body>(declaration, std::move(handler), store, source, tally, log);
}

Worker::~Worker() = default;

void Worker::run(std::stop_token stop, milliseconds drain) { body_->run(std::move(stop), drain); }

std::string Worker::trouble() const { return body_->trouble(); }

}  // namespace onceward
