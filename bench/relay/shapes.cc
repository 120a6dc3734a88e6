#include "bench/relay/shapes.h"

#include <chrono>
#include <utility>

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

class RawPublish final : public Shape {
 public:
  explicit RawPublish(const RelayBench& bench) : bench_(bench) {}

  double run(std::span<const Index> deliveries, std::size_t) override {
    const auto start = Clock::now();
    const auto publisher = bench_.broker.open_publisher();
    Composer composer(bench_.broker, bench_.attributes);
    publisher->begin_burst();
    for (const Index index : deliveries) publisher->publish(composer.compose(row_of(bench_.work.messages[index])));
    publisher->end_burst();
    publisher->await_confirms();
    return seconds_between(start, Clock::now());
  }
  Effort effort() const override { return {}; }

 private:
  const RelayBench bench_;
};

class Checked final : public Shape {
 public:
  Checked(const RelayBench& bench, std::unique_ptr<Shape> shape, std::vector<Arrived>& into)
      : bench_(bench), shape_(std::move(shape)), into_(into) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    const double seconds = shape_->run(deliveries, batch);
    Arrivals arrivals(bench_.work);
    arrivals.drain(bench_.broker, deliveries.size());
    into_.push_back(arrivals.found());
    return seconds;
  }
  Effort effort() const override { return shape_->effort(); }

 private:
  const RelayBench bench_;
  const std::unique_ptr<Shape> shape_;
  std::vector<Arrived>& into_;
};

class OncewardRelay final : public Shape {
 public:
  OncewardRelay(const RelayBench& bench, const RelayShape& shape, std::vector<Arrived>& into)
      : bench_(bench), shape_(shape), into_(into) {}

  double run(std::span<const Index> deliveries, std::size_t batch) override {
    const RelayJob job{.store = bench_.database.url(),
                       .target = bench_.broker.target_url(),
                       .ordered = shape_.ordered,
                       .native = bench_.attributes == Attributes::native,
                       .page = static_cast<int>(batch)};
    const auto beside = shape_.beside ? shape_.beside() : nullptr;
    const std::uint64_t staged = deliveries.size() - (beside ? beside->keeps() : 0);
    const auto start = Clock::now();
    RelayProcesses relay(job, shape_.processes);
    // What is published twice counts twice; whatever is missing then comes while we drain.
    const auto end = relay.await_published(staged);
    Arrivals arrivals(bench_.work);
    arrivals.drain(bench_.broker, staged);
    if (beside) beside->finish(relay, arrivals);
    relay.stop();
    effort_ = relay.effort();
    into_.push_back(arrivals.found());
    return seconds_between(start, end);
  }
  Effort effort() const override { return effort_; }

 private:
  const RelayBench bench_;
  const RelayShape shape_;
  std::vector<Arrived>& into_;
  Effort effort_;
};

}  // namespace

std::unique_ptr<Shape> raw_publish(const RelayBench& bench) { return std::make_unique<RawPublish>(bench); }

std::unique_ptr<Shape> checked(const RelayBench& bench, std::unique_ptr<Shape> shape, std::vector<Arrived>& into) {
  return std::make_unique<Checked>(bench, std::move(shape), into);
}

std::unique_ptr<Shape> onceward_relay(const RelayBench& bench, const RelayShape& shape, std::vector<Arrived>& into) {
  return std::make_unique<OncewardRelay>(bench, shape, into);
}

}  // namespace onceward::bench
