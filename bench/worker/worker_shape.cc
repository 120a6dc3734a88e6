#include "bench/worker/worker_shape.h"

#include <fmt/format.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/store/store_shape.h"
#include "bench/worker/handlers.h"
#include "bench/worker/watched_source.h"
#include "onceward/adapter/memory.h"
#include "onceward/worker.h"

namespace onceward::bench {
namespace {

constexpr std::chrono::seconds longest_run{1'800};

class WorkerShape final : public Shape {
 public:
  WorkerShape(std::unique_ptr<Store> store, const Workload& work, const Job& job, const Measuring& measuring)
      : store_(std::move(store)), work_(work), job_(job), measuring_(measuring) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    Declaration declaration = job_.declaration;
    declaration.batch = batch;
    MemoryQueue queue;
    fill(queue, deliveries);
    WatchedSource source(queue.open(), {.arrived = [this](auto arrived) { look_at(arrived); }});
    ConsumerTally tally;
    Worker worker(declaration, job_.handler(work_), *store_, source, tally);
    before_ = store_->counters();
    if (measuring_.begins) measuring_.begins();
    const auto start = WatchedSource::Clock::now();
    std::jthread working([&worker](std::stop_token stop) { worker.run(std::move(stop)); });
    const auto end = source.await_settled(deliveries.size(), longest_run);
    if (measuring_.ends) measuring_.ends();
    working.request_stop();
    working.join();
    check(tally, deliveries.size());
    return std::chrono::duration<double>(end - start).count();
  }

  Effort effort() const override {
    const StoreCounters now = store_->counters();
    return {.round_trips = now.round_trips - before_.round_trips,
            .statements = now.statements - before_.statements,
            .transactions = now.transactions - before_.transactions};
  }

 private:
  void fill(MemoryQueue& queue, std::span<const Index> deliveries) const {
    std::vector<Envelope> envelopes;
    envelopes.reserve(deliveries.size());
    for (const Index index : deliveries) envelopes.push_back(envelope_of(work_, index));
    queue.push(envelopes);
  }

  // As a broker's client has just done, on the same thread.
  void look_at(std::span<const Delivery> arrived) {
    arrived_.clear();
    for (const Delivery& delivery : arrived) {
      arrived_.push_back(static_cast<Index>(*delivery.envelope.event_version()));
    }
    touch(work_, arrived_);
  }

  static void check(const ConsumerTally& tally, std::size_t deliveries) {
    if (tally.received != deliveries || tally.conflict + tally.refused + tally.outages + tally.settle_failed > 0) {
      throw std::runtime_error(fmt::format(
          "{} of {} deliveries received; {} conflicts, {} refused, {} outages, {} not settled", tally.received.load(),
          deliveries, tally.conflict.load(), tally.refused.load(), tally.outages.load(), tally.settle_failed.load()));
    }
  }

  const std::unique_ptr<Store> store_;
  const Workload& work_;
  const Job job_;
  const Measuring measuring_;
  StoreCounters before_;
  std::vector<Index> arrived_;  // of the source's thread
};

}  // namespace

Job job_of(Ids ids, std::function<Handler(const Workload&)> handler) {
  return {declaration_of(ids), std::move(handler)};
}

std::unique_ptr<Shape> worker_shape(std::unique_ptr<Store> store, const Workload& work, const Job& job,
                                    const Measuring& measuring) {
  return std::make_unique<WorkerShape>(std::move(store), work, job, measuring);
}

}  // namespace onceward::bench
