#include "bench/dispatch/shapes.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/floor/calls.h"
#include "onceward/adapter/http.h"
#include "onceward/dispatcher.h"

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{30};  // without one more answer

CallsMade made(const ServerBook& book) {
  return {.requests = book.requests,
          .repeated = book.repeated,
          .connections = book.connections,
          .bytes = book.bytes,
          .ledger = {}};
}

class FloorShape final : public Shape {
 public:
  FloorShape(const DispatchBench& bench, CalledKind kind, std::vector<CallsMade>& into)
      : bench_(bench), kind_(kind), into_(into) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    const auto calls = bare_calls({server_.url(), bench_.concurrency, kind_}, bench_.work);
    const double seconds = calls->run(deliveries, batch);
    into_.push_back(made(server_.book()));
    return seconds;
  }
  Effort effort() const override { return {}; }

 private:
  const DispatchBench bench_;
  const CalledKind kind_;
  std::vector<CallsMade>& into_;
  const CalledServer server_{Manner::well};
};

// The clock stops when the last answer is committed.
class OncewardShape final : public Shape {
 public:
  OncewardShape(const DispatchBench& bench, CalledKind kind, std::vector<CallsMade>& into)
      : bench_(bench), kind_(kind), into_(into) {}

  double run(std::span<const Index> deliveries, std::size_t) override {
    const EndpointDeclaration declaration = declared({server_.url(), bench_.concurrency, kind_});
    DispatchTally tally;
    const auto start = Clock::now();
    const auto store = bench_.database.open();
    const auto endpoint = open_http(declaration);
    Dispatcher dispatcher(declaration, "bench", *store, *endpoint, tally);
    {
      const std::jthread working([&](std::stop_token stop) { dispatcher.run(std::move(stop)); });
      await_answers(tally, deliveries.size());
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const StoreCounters counters = store->counters();
    effort_ = {counters.round_trips, counters.statements, counters.transactions};
    CallsMade found = made(server_.book());
    found.ledger = count_ledger(*store);
    found.transactions = counters.transactions;
    found.round_trips = counters.round_trips;
    into_.push_back(found);
    return seconds;
  }
  Effort effort() const override { return effort_; }

 private:
  static void await_answers(const DispatchTally& tally, std::uint64_t count) {
    std::uint64_t known = 0;
    for (auto last = Clock::now(); known < count;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::uint64_t now = tally.succeeded;
      if (now > known) last = Clock::now();
      if (Clock::now() - last > patience) throw std::runtime_error("some calls are not answered");
      known = now;
    }
  }

  const DispatchBench bench_;
  const CalledKind kind_;
  std::vector<CallsMade>& into_;
  const CalledServer server_{Manner::well};
  Effort effort_;
};

}  // namespace

std::unique_ptr<Shape> floor_shape(const DispatchBench& bench, CalledKind kind, std::vector<CallsMade>& into) {
  return std::make_unique<FloorShape>(bench, kind, into);
}

std::unique_ptr<Shape> onceward_shape(const DispatchBench& bench, CalledKind kind, std::vector<CallsMade>& into) {
  return std::make_unique<OncewardShape>(bench, kind, into);
}

}  // namespace onceward::bench
