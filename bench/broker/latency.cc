#include "bench/broker/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "bench/floor/postgres_sql.h"
#include "bench/store/store_shape.h"
#include "bench/worker/handlers.h"
#include "bench/worker/watched_source.h"
#include "onceward/worker.h"

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds warm_up{2}, measured{10}, patience{60};

// When each was due to be published, and when it was committed. Written by one thread each.
class Times {
 public:
  Times(std::size_t count, double rate) : rate_(rate), committed_(count) {}

  void begin() { start_ = Clock::now() + std::chrono::milliseconds(200); }
  Clock::time_point due(std::size_t number) const {
    return start_ + std::chrono::duration_cast<Clock::duration>(
                        std::chrono::duration<double>(static_cast<double>(number) / rate_));
  }
  // The first time counts.
  void commit(Index number) {
    if (committed_[number] != Clock::time_point()) return;
    committed_[number] = Clock::now();
    count_.fetch_add(1, std::memory_order_release);
  }
  std::size_t size() const { return committed_.size(); }
  bool complete() const { return count_.load(std::memory_order_acquire) == committed_.size(); }

  Latency summary() const {
    const auto skipped = static_cast<std::size_t>(rate_ * std::chrono::duration<double>(warm_up).count());
    std::vector<double> milliseconds;
    for (std::size_t number = skipped; number < committed_.size(); ++number) {
      milliseconds.push_back(std::chrono::duration<double, std::milli>(committed_[number] - due(number)).count());
    }
    Latency latency = latency_of(std::move(milliseconds));
    latency.rate = rate_;
    return latency;
  }

 private:
  const double rate_;
  Clock::time_point start_;
  std::vector<Clock::time_point> committed_;
  std::atomic<std::size_t> count_{0};
};

// Publishes on time, whoever listens.
void publish(BareBroker& broker, const Times& times) {
  for (std::size_t number = 0; number < times.size(); ++number) {
    std::this_thread::sleep_until(times.due(number));
    broker.publish(static_cast<Index>(number));
  }
}

void await(const Times& times) {
  const auto end = Clock::now() + patience;
  while (!times.complete()) {
    if (Clock::now() > end) throw std::runtime_error("not every message was committed");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

class Autocommit {
 public:
  explicit Autocommit(const std::string& url) : wire_(url, Wire::Mode::plain) { prepare_one_by_one(wire_); }
  void insert(const Message& message) {
    wire_.execute("payment_one", {binary(message.account), binary(message.amount), currency, message.id});
  }

 private:
  Wire wire_;
};

// Receives, inserts and acknowledges one after the other, until `stop`.
void consume_bare(BareConsumer& consumer, Autocommit& database, const Workload& work,
                  const std::function<void(Index)>& committed, std::stop_token stop) {
  std::vector<Index> received;
  std::uint64_t count = 0;
  while (!stop.stop_requested()) {
    received.clear();
    consumer.receive(received, 100);
    for (const Index index : received) {
      database.insert(work.messages[index]);
      committed(index);
    }
    count += received.size();
    if (!received.empty()) consumer.acknowledge(count);
  }
}

double rate_of_bare(PostgresDatabase& database, BareBroker& broker, const Workload& work) {
  const std::size_t most = std::min<std::size_t>(work.deliveries.size(), 4'000);
  broker.fill(std::span(work.deliveries).first(most));
  Autocommit inserts(database.url());
  const auto consumer = broker.consume();
  std::size_t count = 0;
  std::stop_source enough;
  Clock::time_point start{};  // whoever joins a group waits before the first comes
  consume_bare(
      *consumer, inserts, work,
      [&](Index) {
        if (count++ == 0) start = Clock::now();
        if (count == most) enough.request_stop();
      },
      enough.get_token());
  return static_cast<double>(count) / std::chrono::duration<double>(Clock::now() - start).count();
}

Latency bare(PostgresDatabase& database, BareBroker& broker, const Workload& work, Times& times) {
  broker.fill({});
  Autocommit inserts(database.url());
  const auto consumer = broker.consume();
  times.begin();
  const std::jthread consuming([&](std::stop_token stop) {
    consume_bare(*consumer, inserts, work, [&](Index index) { times.commit(index); }, stop);
  });
  publish(broker, times);
  await(times);
  return times.summary();
}

Latency onceward(PostgresDatabase& database, BareBroker& broker, const Workload& work, Times& times) {
  broker.fill({});
  const Numbers numbers(work);
  std::unordered_map<std::uint64_t, Index> number_of;  // by tag; of the source's thread
  const auto arrived = [&](std::span<const Delivery> deliveries) {
    for (const Delivery& delivery : deliveries) {
      number_of[delivery.tag] = numbers.of(delivery.envelope.message_id().text());
    }
  };
  const auto settling = [&](std::span<const Settlement> settlements) {
    for (const Settlement& settlement : settlements) times.commit(number_of.at(settlement.tag));
  };
  WatchedSource source(broker.open_source(), {.arrived = arrived, .settling = settling});
  const auto store = database.open();
  const Declaration declaration = declaration_of(work.ids);
  ConsumerTally tally;
  Worker worker(declaration, batch_handler_by_id(work, numbers), *store, source, tally);
  times.begin();
  std::jthread working([&](std::stop_token stop) { worker.run(std::move(stop)); });
  publish(broker, times);
  await(times);
  return times.summary();
}

}  // namespace

std::vector<Latency> measure_latency(PostgresDatabase& database, BareBroker& broker, const Workload& work,
                                     const LatencyOptions& options, Progress& progress) {
  database.reset();
  progress.say("what a bare consumer can do");
  const double rate = options.rate > 0 ? options.rate : rate_of_bare(database, broker, work) / 2;
  const auto count = static_cast<std::size_t>(rate * std::chrono::duration<double>(warm_up + measured).count());
  if (count > work.messages.size()) throw std::invalid_argument("not enough messages for that rate; raise --messages");
  std::vector<Latency> latencies;
  for (const auto& [name, run] : {std::pair("raw", &bare), std::pair("onceward", &onceward)}) {
    progress.say(name);
    database.reset();
    Times times(count, rate);
    Latency& latency = latencies.emplace_back(run(database, broker, work, times));
    latency.name = name;
    latency.broker = broker.name();
  }
  progress.say("");
  return latencies;
}

std::vector<Bar> latency_bars(const std::vector<Latency>& latencies) {
  const double times = latencies.back().p99 / latencies.front().p99;
  return {{fmt::format("p99 is {:.2f} times that of the raw consumer (bar 3)", times), times <= 3, false}};
}

}  // namespace onceward::bench
