#include "bench/broker/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "bench/broker/belt.h"
#include "bench/floor/postgres_each.h"
#include "bench/floor/postgres_positions.h"
#include "bench/store/store_shape.h"
#include "bench/worker/handlers.h"
#include "bench/worker/watched_source.h"
#include "onceward/stream_keeper.h"
#include "onceward/worker.h"

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds longest_run{1'800};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class RawDrain final : public Shape {
 public:
  explicit RawDrain(BareBroker& broker) : broker_(broker) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    broker_.fill(deliveries);
    const auto start = Clock::now();
    const auto consumer = broker_.consume();
    std::vector<Index> received;
    std::size_t count = 0;
    while (count < deliveries.size()) {
      received.clear();
      consumer->receive(received, batch);
      count += received.size();
      if (!received.empty()) consumer->acknowledge(count);
    }
    return seconds_since(start);
  }
  Effort effort() const override { return {}; }

 private:
  BareBroker& broker_;
};

using MessageBelt = Belt<std::vector<Index>>;

// One thread receives and acknowledges; each of `hands` commits what it is given, `most` messages at a time.
class ByHand final : public Shape {
 public:
  ByHand(BareBroker& broker, const Workload& work, std::vector<std::unique_ptr<PostgresBatches>> hands, bool one_by_one)
      : broker_(broker), work_(work), hands_(std::move(hands)), one_by_one_(one_by_one) {}

  // Who does only a share of the work finds the same long queue: its length is part of what a message costs the broker.
  double run(std::span<const Index> deliveries, std::size_t batch) override {
    broker_.fill(work_.deliveries);
    const auto start = Clock::now();
    const auto consumer = broker_.consume();
    MessageBelt belt(one_by_one_ ? 4 * hands_.size() : 1);
    std::vector<std::jthread> threads;
    for (const auto& hand : hands_) {
      threads.emplace_back([&belt, &hand = *hand] {
        while (const auto load = belt.take()) {
          hand.commit(load->cargo);
          belt.through(load->before, load->count);
        }
      });
    }
    drive(*consumer, belt, deliveries.size(), one_by_one_ ? 1 : batch);
    const double seconds = seconds_since(start);
    belt.close();
    return seconds;
  }

  Effort effort() const override {
    Effort sum;
    for (const auto& hand : hands_) {
      sum.round_trips += hand->effort().round_trips;
      sum.statements += hand->effort().statements;
    }
    return sum;
  }

 private:
  // What has come while the last batch was under way is the next one.
  static void drive(BareConsumer& consumer, MessageBelt& belt, std::size_t total, std::size_t most) {
    std::vector<Index> received;
    std::uint64_t count = 0, handed = 0, acknowledged = 0;
    while (acknowledged < total) {
      if (count < total && received.size() < most) {
        const std::size_t before = received.size();
        consumer.receive(received, std::min<std::size_t>(most - before, total - count));
        count += received.size() - before;
      }
      if (!received.empty() && belt.has_room()) {
        const std::size_t size = received.size();
        belt.put({handed, size, std::exchange(received, {})});
        handed += size;
      } else if (count == total || received.size() == most) {
        belt.await_change(acknowledged, !received.empty());
      }
      const std::uint64_t committed = belt.prefix();
      if (committed > acknowledged) consumer.acknowledge(committed);
      acknowledged = committed;
    }
  }

  BareBroker& broker_;
  const Workload& work_;
  const std::vector<std::unique_ptr<PostgresBatches>> hands_;
  const bool one_by_one_;
};

class Onceward final : public Shape {
 public:
  Onceward(BareBroker& broker, Database& database, const Workload& work, Offsets offsets)
      : broker_(broker),
        database_(database),
        offsets_(offsets),
        store_(database.open()),
        work_(work),
        numbers_(work),
        before_(store_->counters()) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    Declaration declaration = declaration_of(work_.ids);
    declaration.batch = batch;
    if (offsets_ == Offsets::store) {
      declaration.offsets = offsets_;
      declaration.trust_producer = true;
      declaration.order = Order::partition;
      declaration.identity.scheme = KeyScheme::hash;
    }
    broker_.fill(deliveries);
    const auto start = Clock::now();
    WatchedSource source(broker_.open_source(keeper_for(declaration)), {});
    ConsumerTally tally;
    Worker worker(declaration, batch_handler_by_id(work_, numbers_), *store_, source, tally);
    std::jthread working([&worker](std::stop_token stop) { worker.run(std::move(stop)); });
    const auto end = source.await_settled(deliveries.size(), longest_run);
    working.request_stop();
    working.join();
    if (tally.conflict + tally.refused + tally.outages + tally.quarantined > 0 || tally.received < deliveries.size()) {
      throw std::runtime_error(fmt::format("{} received; {} conflicts, {} refused, {} outages, {} quarantined",
                                           tally.received.load(), tally.conflict.load(), tally.refused.load(),
                                           tally.outages.load(), tally.quarantined.load()));
    }
    return std::chrono::duration<double>(end - start).count();
  }

  Effort effort() const override {
    const StoreCounters now = store_->counters();
    return {.round_trips = now.round_trips - before_.round_trips,
            .statements = now.statements - before_.statements,
            .transactions = now.transactions - before_.transactions};
  }

 private:
  std::unique_ptr<StreamKeeper> keeper_for(const Declaration& declaration) {
    if (offsets_ != Offsets::store) return nullptr;
    return keep_streams([this] { return database_.open(); }, declaration);
  }

  BareBroker& broker_;
  Database& database_;
  const Offsets offsets_;
  const std::unique_ptr<Store> store_;
  const Workload& work_;
  const Numbers numbers_;
  const StoreCounters before_;
};

}  // namespace

std::unique_ptr<Shape> raw_drain(BareBroker& broker) { return std::make_unique<RawDrain>(broker); }

std::unique_ptr<Shape> bare_consumer(BareBroker& broker, const FloorOptions& options, const Workload& work) {
  std::vector<std::unique_ptr<PostgresBatches>> hands;
  hands.push_back(postgres_batches(options, work));
  return std::make_unique<ByHand>(broker, work, std::move(hands), false);
}

std::unique_ptr<Shape> each_consumer(BareBroker& broker, const FloorOptions& options, const Workload& work,
                                     std::size_t workers) {
  std::vector<std::unique_ptr<PostgresBatches>> hands;
  for (std::size_t i = 0; i < workers; ++i) hands.push_back(postgres_one_by_one(options, work));
  return std::make_unique<ByHand>(broker, work, std::move(hands), true);
}

std::unique_ptr<Shape> bare_by_position(BareBroker& broker, const FloorOptions& options, const Workload& work) {
  std::vector<std::unique_ptr<PostgresBatches>> hands;
  hands.push_back(postgres_positions(options, work));
  return std::make_unique<ByHand>(broker, work, std::move(hands), false);
}

std::unique_ptr<Shape> onceward_consumer(BareBroker& broker, Database& database, const Workload& work,
                                         Offsets offsets) {
  return std::make_unique<Onceward>(broker, database, work, offsets);
}

}  // namespace onceward::bench
