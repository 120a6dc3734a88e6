#include "bench/relay/latency.h"

#include <fmt/format.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "bench/relay/watched_publisher.h"

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds shortest_pause{5}, longest_pause{120};  // the relay falls idle after 50
constexpr std::chrono::seconds patience{30};
constexpr std::size_t warm_up = 20;
constexpr double most_more_ms = 2;

double milliseconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// Sends each message of the work after a pause; `send` returns the milliseconds that it took.
Latency one_by_one(const RelayBench& bench, const char* name, const std::function<double(const Message&)>& send) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> pause(shortest_pause.count(), longest_pause.count());
  std::vector<double> taken;
  for (std::size_t i = 0; i < bench.work.messages.size(); ++i) {
    std::this_thread::sleep_for(milliseconds(pause(random)));
    const double time = send(bench.work.messages[i]);
    if (i >= warm_up) taken.push_back(time);
  }
  Latency latency = latency_of(std::move(taken));
  latency.broker = bench.broker.name();
  latency.name = name;
  return latency;
}

Latency raw(const RelayBench& bench) {
  const auto publisher = bench.broker.open_publisher();
  Composer composer(bench.broker, bench.attributes);
  return one_by_one(bench, "raw", [&](const Message& message) {
    const auto start = Clock::now();
    publisher->publish(composer.compose(row_of(message)));
    publisher->await_confirms();
    return milliseconds_between(start, Clock::now());
  });
}

// When the broker's next answer came.
class NextAnswer {
 public:
  void come() {
    {
      const std::lock_guard lock(mutex_);
      at_ = Clock::now();
    }
    changed_.notify_all();
  }
  Clock::time_point await() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, patience, [&] { return at_ != Clock::time_point(); })) {
      throw std::runtime_error("a message was not confirmed");
    }
    return std::exchange(at_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point at_{};
};

Latency onceward(const RelayBench& bench) {
  NextAnswer answer;
  RelayOptions options = relay_options({.store = bench.database.url(),
                                        .target = bench.broker.target_url(),
                                        .native = bench.attributes == Attributes::native});
  const auto open = options.targets.front().open;
  options.targets.front().open = [&] {
    return std::make_unique<WatchedPublisher>(open(), [&](std::span<const Receipt>) { answer.come(); });
  };
  const auto own = bench.database.open(), staging = bench.database.open();
  RelayTally tally;
  Relay relay(std::move(options), *own, tally);
  Clock::time_point committed;
  staging->on_commit([&] {
    committed = Clock::now();
    relay.wake();
  });
  const std::jthread working([&](std::stop_token stop) { relay.run(std::move(stop)); });
  return one_by_one(bench, "onceward", [&](const Message& message) {
    const auto unit = staging->begin({});
    unit->whole().stage(Outgoing{.type = outgoing_type,
                                 .key = message.account_key,
                                 .payload = message.outgoing,
                                 .id = message.id,
                                 .aggregate_type = aggregate_type,
                                 .aggregate_id = message.account_key,
                                 .aggregate_version = message.version});
    if (unit->commit() != Commit::committed) throw std::runtime_error("a message was not committed");
    return milliseconds_between(committed, answer.await());
  });
}

}  // namespace

RelayLatency measure_relay_latency(const RelayBench& bench, Progress& progress) {
  RelayLatency measured;
  for (const auto& [name, run] : {std::pair("raw", &raw), std::pair("onceward", &onceward)}) {
    progress.say(name);
    bench.database.reset();
    bench.broker.make();
    measured.latencies.push_back(run(bench));
    Arrivals arrivals(bench.work);
    arrivals.drain(bench.broker, bench.work.messages.size());
    for (Bar& bar : arrival_bars(name, arrivals.found(), bench.work.messages.size(), false)) {
      measured.bars.push_back(std::move(bar));
    }
  }
  const double more = measured.latencies.back().p99 - measured.latencies.front().p99;
  measured.bars.push_back({fmt::format("p99 is {:.2f} ms more than that of a raw publish (bar {})", more, most_more_ms),
                           more <= most_more_ms, false});
  return measured;
}

}  // namespace onceward::bench
