// The receiving end of an embedded queue. Everything but wake() belongs to one thread.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "adapters/embedded/options.h"
#include "adapters/embedded/queue.h"
#include "adapters/sqlite/schema.h"
#include "src/common/limits.h"
#include "src/common/owner_thread.h"
#include "src/source/held.h"
#include "src/source/reading.h"

namespace onceward {
namespace embedded {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

// A file cannot call us when it changes. A look at it costs some microseconds.
constexpr steady_clock::duration shortest_pause = 1ms;
constexpr steady_clock::duration longest_pause = 20ms;

class EmbeddedSource final : public Source {
 public:
  explicit EmbeddedSource(const EmbeddedOptions& options) : options_(options), disturber_(options.disturbance) {
    check(options);
    queue_ = std::make_unique<Queue>(options_);
  }
  ~EmbeddedSource() override { give_back(); }

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    if (most == 0) return;
    forget_what_is_long_due();
    const auto end = steady_clock::now() + std::clamp(wait, 0ms, longest_wait);
    for (auto pause = shortest_pause; !take(into, most); pause = std::min(2 * pause, longest_pause)) {
      const auto now = steady_clock::now();
      if (rest(std::min(end, now + pause)) || now >= end) return;
    }
  }

  void settle(std::span<const Settlement> settlements) override {
    const OwnerThread::Turn turn(owner_);
    ended_.clear();
    for (const Settlement& settlement : settlements) {
      const auto handed = held_.release(settlement.tag);
      if (!handed) continue;
      const bool again =
          settlement.how == Settle::redeliver || (settlement.how == Settle::accept && disturber_.comes_again());
      ended_.push_back({*handed, again});
    }
    counters_.settle_failed += settlements.size();  // until more is known
    if (ended_.empty()) return;
    on_file([&](Queue& queue) {
      const std::uint64_t confirmed = queue.end(ended_);
      counters_.settled += confirmed;
      counters_.settle_failed -= confirmed;
    });
  }

  void wake() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    awake_.notify_one();
  }

  std::optional<std::chrono::milliseconds> ack_timeout() const override { return options_.visibility; }
  SourceCounters counters() const override { return counters_; }
  std::string describe() const override { return fmt::format("embedded:{}?queue={}", options_.path, options_.queue); }

 private:
  bool take(std::vector<Delivery>& into, std::size_t most) {
    taken_.clear();
    on_file([&](Queue& queue) {
      if (queue.ready()) queue.take(most, disturber_, taken_);
    });
    for (Taken& taken : taken_) {
      Delivery& delivery = into.emplace_back(read_delivery(taken.body, options_.limits));
      delivery.tag = held_.add(taken.handed);
      delivery.deliveries = taken.deliveries;
      delivery.redelivered = taken.deliveries > 1;
      counters_.redelivered += delivery.redelivered ? 1 : 0;
    }
    counters_.received += taken_.size();
    return !taken_.empty();
  }

  // Waits; true if it was woken.
  bool rest(steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    awake_.wait_until(lock, until, [&] { return woken_; });
    return std::exchange(woken_, false);
  }

  // Runs `work`, and once more on a file opened anew where the file was lost. Both may be repeated: what was taken and
  // not handed out comes back when it is due, and what has ended has ended.
  template <class Work>
  void on_file(Work&& work) {
    const bool opened = !queue_ || !queue_->usable();
    if (opened) reopen();
    try {
      return work(*queue_);
    } catch (const Fault&) {
      if (opened || queue_->usable()) throw;
    }
    reopen();
    work(*queue_);
  }

  void reopen() {
    queue_.reset();  // first: a library that must have the file for itself stands in its own way
    queue_ = std::make_unique<Queue>(options_);
    ++counters_.reconnects;
  }

  // An answer may come late, and still finds its message if nobody else was handed it; but not for ever.
  void forget_what_is_long_due() {
    const std::int64_t now = sqlite::now_microseconds();
    const auto patience = std::chrono::microseconds(options_.visibility).count();
    while (const Handed* oldest = held_.oldest()) {
      if (oldest->due_at + patience > now) return;
      held_.release_oldest();
    }
  }

  void give_back() {
    if (held_.empty() || !queue_ || !queue_->usable()) return;
    ended_.clear();
    while (!held_.empty()) ended_.push_back({held_.release_oldest(), true});
    try {
      queue_->end(ended_);
    } catch (const Fault&) {
      // They come back when they are due.
    }
  }

  const EmbeddedOptions options_;
  const OwnerThread owner_;

  // Of the one thread.
  Disturber disturber_;
  std::unique_ptr<Queue> queue_;  // null after it could not be opened again
  Held<Handed> held_;
  SourceCounters counters_;
  std::vector<Taken> taken_;
  std::vector<Ended> ended_;

  // Of any thread.
  std::mutex mutex_;
  std::condition_variable awake_;
  bool woken_ = false;
};

}  // namespace
}  // namespace embedded

std::unique_ptr<Source> open_embedded(const EmbeddedOptions& options) {
  return std::make_unique<embedded::EmbeddedSource>(options);
}

}  // namespace onceward
