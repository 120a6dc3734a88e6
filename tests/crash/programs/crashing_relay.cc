// A relay from the store argv[1] to the embedded queue file argv[2], until it is killed; argv[3] is the point at which it stops
// itself. Messages of the type "lost" go where no queue can be.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "onceward/adapter/embedded.h"
#include "onceward/relay.h"
#include "tests/crash/point.h"
#include "tests/fixtures/address.h"
#include "tests/fixtures/forwarding_store.h"

namespace {

using namespace onceward;
using namespace onceward::crash;
using namespace std::chrono_literals;

std::atomic<bool> has_published = false;

class StoppingStore final : public fixtures::ForwardingStore {
 public:
  StoppingStore(Store& store, Stop& stop) : ForwardingStore(store), stop_(stop) {}
  std::unique_ptr<UnitOfWork> begin(const Enrolled& consumer) override {
    return std::make_unique<Unit>(store_.begin(consumer), stop_);
  }

 private:
  class Unit final : public fixtures::ForwardingUnit {
   public:
    Unit(std::unique_ptr<UnitOfWork> unit, Stop& stop) : ForwardingUnit(std::move(unit)), stop_(stop) {}
    Commit commit() override {
      const Point point = has_published ? Point::noted : Point::renewing;
      if (stop_.wants(point)) {
        unit_->flush();
        stop_.reach(point);
      }
      return unit_->commit();
    }

   private:
    Stop& stop_;
  };

  Stop& stop_;
};

class StoppingPublisher final : public Publisher {
 public:
  StoppingPublisher(std::unique_ptr<Publisher> publisher, Stop& stop) : publisher_(std::move(publisher)), stop_(stop) {}

  std::size_t room() const override { return publisher_->room(); }
  std::size_t outstanding() const override { return publisher_->outstanding() + kept_.size(); }
  void publish(std::span<const Publication> publications) override {
    stop_.reach(Point::read_page);
    publisher_->publish(publications);
    has_published = true;
    stop_.reach(Point::published);
  }
  void collect(std::vector<Receipt>& into, std::chrono::milliseconds wait) override {
    if (!kept_.empty()) stop_.reach(Point::some_confirmed);
    const std::size_t before = into.size();
    into.insert(into.end(), kept_.begin(), kept_.end());
    kept_.clear();
    publisher_->collect(into, wait);
    for (std::size_t at = before; at < into.size(); ++at) {
      stop_.reach(into[at].kind == Receipt::Kind::refused ? Point::returned : Point::confirmed);
    }
    if (!stop_.wants(Point::some_confirmed)) return;
    const std::size_t half = before + (into.size() - before) / 2;
    kept_.assign(into.begin() + static_cast<std::ptrdiff_t>(half), into.end());
    into.resize(half);
  }
  void wake() noexcept override { publisher_->wake(); }
  PublisherCounters counters() const override { return publisher_->counters(); }
  std::string describe() const override { return publisher_->describe(); }

 private:
  const std::unique_ptr<Publisher> publisher_;
  Stop& stop_;
  std::vector<Receipt> kept_;
};

void work(const std::string& address, const std::string& queue, Point point) {
  Stop stop(point);
  const auto real = fixtures::open_address(address);
  StoppingStore store(*real, stop);
  RelayOptions options;
  options.name = "relay";
  options.producer = "shop";
  options.targets = {
      {"queue", [&] { return std::make_unique<StoppingPublisher>(open_embedded_publisher({.path = queue}), stop); }}};
  options.routes = {{.types = {"paid"}, .destination = "default", .ordered = true},
                    {.types = {"lost"}, .destination = "no such queue!"}};
  options.retry = {.attempts = 1, .first_delay = 1ms, .longest_delay = 1ms};
  options.lease = 300ms;
  options.poll = 20ms;
  RelayTally tally;
  Relay(options, store, tally).run({});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    work(argv[1], argv[2], static_cast<Point>(std::atoi(argv[3])));
  } catch (const std::exception& thrown) {
    std::printf("error: %s\n", thrown.what());
    return 1;
  }
}
